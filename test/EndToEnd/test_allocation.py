"""A step of compiled code, with the runtime around it, allocates nothing."""
import pytest

from conftest import GOLDEN, TINY, run


@pytest.mark.parametrize("folder", [TINY, GOLDEN / "deepseek-v3"],
                         ids=lambda folder: folder.name)
@pytest.mark.parametrize("options", [(), ("--activations=fp8",),
                                     ("--attention=expanded",)],
                         ids=["default", "fp8", "expanded"])
def test_steps_allocate_nothing(compiled, folder, options):
    result = run("count-step-allocations", compiled(folder, *options), folder)
    assert result.returncode == 0, result.stdout + result.stderr

"""Prints what run_ops.py measured as one table."""


def print_table(lines):
    """Contestants side by side, a row for each op and number of threads."""
    names = list(dict.fromkeys(line["contestant"] for line in lines))
    rows = {}
    for line in lines:
        rows.setdefault((line["threads"], line["case"]), {})[line["contestant"]] = line["value"]
    print(f"{'GFLOP/s':36} {'threads':>7}  " + "  ".join(f"{name:>10}" for name in names))
    for (threads, case), values in rows.items():
        cells = [f"{values[name]:>10.1f}" if name in values else f"{'-':>10}" for name in names]
        print(f"{case:36} {threads:>7}  " + "  ".join(cells))
    print()

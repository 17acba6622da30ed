//===- CheckpointTest.cpp - Tests of checkpoints --------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

using namespace moec::runtime;

namespace {

struct Broken {
  const char *name;
  std::string text;
  const char *message;
};

class BrokenIndex : public ::testing::TestWithParam<Broken> {};

} // namespace

static constexpr char indexName[] = "model.safetensors.index.json";

static NamedTensor byteTensor(const std::string &name, char value) {
  return {name, "U8", {1}, std::string(1, value)};
}

/// Two shards: 1 holds a and b, 2 holds c.
static void writeShards(const TempFolder &folder, const std::string &index) {
  writeFile(folder / "model-1-of-2.safetensors",
            safetensors({byteTensor("a", 'A'), byteTensor("b", 'B')}));
  writeFile(folder / "model-2-of-2.safetensors",
            safetensors({byteTensor("c", 'C')}));
  writeFile(folder / indexName, index);
}

static std::string failureOf(const TempFolder &folder) {
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder.path());
  return checkpoint ? "" : checkpoint.status().message();
}

static std::string failureOf(const Checkpoint &checkpoint,
                             const std::string &tensor) {
  Expected<Checkpoint::Found> found = checkpoint.find(tensor);
  return found ? "" : found.status().message();
}

static char valueOf(const Checkpoint &checkpoint, const std::string &tensor) {
  Expected<Checkpoint::Found> found = checkpoint.find(tensor);
  return found ? std::to_integer<char>(found->tensor->data[0]) : '\0';
}

TEST_P(BrokenIndex, IsRefused) {
  Expected<WeightMap> map = parseIndex(GetParam().text, "index");
  ASSERT_FALSE(map.ok());
  const std::string &message = map.status().message();
  EXPECT_TRUE(message.starts_with("index:")) << message;
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenIndex,
    ::testing::Values(
        Broken{"Empty", "", "index:1:1"},
        Broken{"CutOff", R"({"weight_map": {"a": "m.safe)", "index:1:"},
        Broken{"Array", "[]", "expected an object, found an array"},
        Broken{"NoMap", R"({"metadata": {"total_size": 0}})",
               "key 'weight_map' is missing"},
        Broken{"MapIsArray", R"({"weight_map": []})", "expected an object"},
        Broken{"EmptyMap", R"({"weight_map": {}})", "weight_map is empty"},
        Broken{"FileIsNumber", R"({"weight_map": {"a": 1}})",
               "key 'a': expected a text, found number 1"},
        Broken{"FileIsNull", R"({"weight_map": {"a": null}})",
               "key 'a': expected a text"},
        Broken{"FileIsEmpty", R"({"weight_map": {"a": ""}})",
               "tensor 'a': file '' is not a plain file name"},
        Broken{"ParentFolder", R"({"weight_map": {"a": "../m.safetensors"}})",
               "'../m.safetensors' is not a plain file name"},
        Broken{"Parent", R"({"weight_map": {"a": ".."}})",
               "'..' is not a plain file name"},
        Broken{"Absolute", R"({"weight_map": {"a": "/etc/passwd"}})",
               "'/etc/passwd' is not a plain file name"},
        Broken{"SubFolder", R"({"weight_map": {"a": "x/m.safetensors"}})",
               "is not a plain file name"},
        Broken{"Backslash", R"({"weight_map": {"a": "..\\m.safetensors"}})",
               "is not a plain file name"},
        Broken{"NulCharacter", R"({"weight_map": {"a": "m\u0000x"}})",
               "is not a plain file name"},
        Broken{"DuplicateTensor", R"({"weight_map": {"a": "m", "a": "n"}})",
               "duplicate key 'a'"},
        Broken{"DepthBomb",
               std::string("{\"weight_map\": ") + std::string(100'000, '['),
               "nested deeper than"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(Checkpoint, ReadsShardsThroughTheIndex) {
  TempFolder folder;
  writeShards(folder, R"({"metadata": {"total_size": 0}, "weight_map": {
      "a": "model-1-of-2.safetensors", "b": "model-1-of-2.safetensors",
      "c": "model-2-of-2.safetensors"}})");
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(checkpoint->numFiles(), 2u);
  EXPECT_EQ(valueOf(*checkpoint, "b"), 'B');
  EXPECT_EQ(valueOf(*checkpoint, "c"), 'C');
}

TEST(Checkpoint, SaysHowIndexAndShardsDisagree) {
  TempFolder folder;
  writeShards(folder, R"({"weight_map": {
      "a": "model-2-of-2.safetensors", "c": "model-2-of-2.safetensors",
      "nowhere": "model-1-of-2.safetensors"}})");
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(failureOf(*checkpoint, "a"),
            "'a': model.safetensors.index.json says it is in "
            "model-2-of-2.safetensors, but that file lacks it; "
            "model-1-of-2.safetensors holds it");
  EXPECT_EQ(failureOf(*checkpoint, "nowhere"),
            "'nowhere': model.safetensors.index.json says it is in "
            "model-1-of-2.safetensors, but that file lacks it");
  EXPECT_EQ(failureOf(*checkpoint, "b"),
            "'b' is missing from model.safetensors.index.json, though "
            "model-1-of-2.safetensors holds it");
  EXPECT_EQ(failureOf(*checkpoint, "d"), "'d' is missing from the checkpoint");
}

TEST(Checkpoint, ListsAllMissingShards) {
  TempFolder folder;
  writeShards(folder, R"({"weight_map": {"a": "model-1-of-2.safetensors",
      "x": "gone-1.safetensors", "y": "gone-2.safetensors"}})");
  std::string message = failureOf(folder);
  EXPECT_NE(message.find("2 of 3 files named by"), std::string::npos)
      << message;
  EXPECT_NE(message.find("\n  'gone-1.safetensors'\n  'gone-2.safetensors'"),
            std::string::npos)
      << message;
}

TEST(Checkpoint, ReadsNoOtherFileOfTheFolder) {
  TempFolder folder;
  writeFile(folder / "model.safetensors", safetensors({byteTensor("a", 'A')}));
  writeFile(folder / "adapter.safetensors", "not even a header");
  std::filesystem::create_directory(folder / "copy");
  writeFile(folder / "copy/model.safetensors", "");
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(valueOf(*checkpoint, "a"), 'A');
  EXPECT_EQ(failureOf(*checkpoint, "b"),
            "'b' is missing from model.safetensors");
}

TEST(Checkpoint, NamesTheDamagedShard) {
  TempFolder folder;
  writeShards(folder, R"({"weight_map": {"a": "model-1-of-2.safetensors",
      "c": "model-2-of-2.safetensors"}})");
  std::filesystem::path shard = folder / "model-2-of-2.safetensors";
  std::filesystem::resize_file(shard, std::filesystem::file_size(shard) - 1);
  EXPECT_TRUE(failureOf(folder).starts_with(shard.string() + ": tensor 'c'"))
      << failureOf(folder);
}

TEST(Checkpoint, RefusesFoldersWithoutWeights) {
  TempFolder folder;
  EXPECT_NE(failureOf(folder).find("holds neither model.safetensors nor"),
            std::string::npos);
  Expected<Checkpoint> missing = Checkpoint::open(folder / "missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("no such folder"),
            std::string::npos);
  std::filesystem::create_directory(folder / "model.safetensors");
  EXPECT_NE(failureOf(folder).find("not a regular file"), std::string::npos);
}

TEST(Checkpoint, ReadsBehindFourGiB) {
  // A sparse file: a tensor of 5 GiB that takes no room on the disk, then four
  // bytes that count.
  TempFolder folder;
  constexpr int64_t large = int64_t(5) << 30;
  std::string end = std::to_string(large);
  std::string header = R"({"large": {"dtype": "U8", "shape": [)" + end +
                       R"(], "data_offsets": [0, )" + end +
                       R"(]}, "small": {"dtype": "F32", "shape": [1],
                       "data_offsets": [)" +
                       end + ", " + std::to_string(large + 4) + "]}}";
  std::string start = safetensors(header);
  std::filesystem::path path = folder / "model.safetensors";
  writeFile(path, start);
  std::filesystem::resize_file(path, start.size() + large + 4);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(start.size()) + large);
  file << bytesOf<float>({1.5f});
  file.close();

  Expected<Checkpoint> checkpoint = Checkpoint::open(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  Expected<Checkpoint::Found> found = checkpoint->find("small");
  ASSERT_TRUE(found.ok());
  float value;
  std::memcpy(&value, found->tensor->data.data(), sizeof(value));
  EXPECT_EQ(value, 1.5f);
}

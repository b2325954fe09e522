#include "scenarios/schema/yaml_tree.h"

#include "scenarios/schema/load_scenario.h"
#include "scenarios/schema/yaml_edit.h"

#include <string>
#include <vector>

namespace bonescan {
namespace {

YamlNode parse(std::string_view text) {
  return parse_yaml_tree(text, std::make_shared<const std::string>("t.yaml"));
}

std::string place(const Position& at) {
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

TEST(YamlTree, KnowsWhereEveryKeyAndValueStands) {
  const YamlNode root = parse("# comment\na: 1\nb:\n  c: [x, {d: yy}]\n  e:\nf: \"q\"\n");
  ASSERT_EQ(root.entries.size(), 3u);
  EXPECT_EQ(place(root.at), "2:1");
  EXPECT_EQ(place(root.find("a")->at), "2:1");
  EXPECT_EQ(place(root.find("a")->value.at), "2:4");
  const YamlNode& b = root.find("b")->value;
  EXPECT_EQ(place(b.at), "4:3");
  const YamlNode& list = b.find("c")->value;
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(place(list.at), "4:6");
  EXPECT_EQ(place(list.items[0].at), "4:7");
  EXPECT_EQ(place(list.items[1].find("d")->at), "4:11");
  EXPECT_EQ(list.items[1].find("d")->value.text, "yy");
  EXPECT_EQ(b.find("e")->value.kind, YamlNode::Kind::kNull);
  EXPECT_EQ(place(b.find("e")->value.at), "5:3");
  EXPECT_EQ(root.find("f")->value.text, "q");
  EXPECT_EQ(root.find("g"), nullptr);
}

TEST(YamlTree, TakesEveryWayToWriteText) {
  const YamlNode root = parse(
      "a: it's [not] a quote's end\nb: 'it''s'\nc: \"a\\\"b\"\nd: |\n  x\n  y\ne: >-\n  x\n  y\n");
  EXPECT_EQ(root.find("a")->value.text, "it's [not] a quote's end");
  EXPECT_EQ(root.find("b")->value.text, "it's");
  EXPECT_EQ(root.find("c")->value.text, "a\"b");
  EXPECT_EQ(root.find("d")->value.text, "x\ny\n");
  EXPECT_EQ(root.find("e")->value.text, "x y");
}

TEST(YamlTree, TakesAByteOrderMarkAndWindowsLineEnds) {
  const YamlNode root = parse(
      "\xEF\xBB\xBF"
      "a: \"1\"\r\nb: '2'\r\n");
  EXPECT_EQ(root.find("a")->value.text, "1");
  EXPECT_EQ(root.find("b")->value.text, "2");
  EXPECT_THROW(parse("\xEF\xBB\xBF"
                     "a: \"1\r\nb: 2\r\n"),
               ConfigError);
}

TEST(YamlTree, NestsExactlySixtyFourDeep) {
  const auto nested = [](std::size_t lists) {
    return "a: " + std::string(lists, '[') + std::string(lists, ']');
  };
  EXPECT_NO_THROW(parse(nested(kMaxYamlDepth - 1)));  // and the root
  EXPECT_THROW(parse(nested(kMaxYamlDepth)), ConfigError);
}

TEST(YamlTree, SurvivesBlockTextThatLooksLikeNesting) {
  std::string text = "a: |\n";
  for (std::size_t i = 0; i < 100; ++i) {
    text += "  " + std::string(i, ' ') + "[ { [ { [\n";
  }
  EXPECT_NO_THROW(parse(text));
}

TEST(EmitYaml, GivesTextOfAnEqualTree) {
  const std::string tricky =
      "a: [x, [y, []], {z: ~, w: {}}]\n\"b c\": \"# no comment\"\nd: 'null'\ne: \"tab\\tline\\n\"\n"
      "f: -1\ng: \"\"\nh: \"link(tor-1.3, agg-2)\"\ni: \"it's \\\\ \\\"so\\\"\"\nj: 2%\nk: "
      "\xC3\xA4\n";
  const std::string once = emit_yaml(parse(tricky));
  EXPECT_EQ(emit_yaml(parse(once)), once);
  const YamlNode root = parse(once);
  EXPECT_EQ(root.find("d")->value.text, "null");
  EXPECT_EQ(root.find("e")->value.text, "tab\tline\n");
  EXPECT_EQ(root.find("g")->value.kind, YamlNode::Kind::kScalar);
  EXPECT_EQ(root.find("i")->value.text, "it's \\ \"so\"");
  EXPECT_EQ(root.find("k")->value.text, "\xC3\xA4");
  EXPECT_EQ(root.find("a")->value.items[2].find("z")->value.kind, YamlNode::Kind::kNull);
  EXPECT_EQ(root.find("a")->value.items[2].find("w")->value.kind, YamlNode::Kind::kMap);
}

TEST(Locate, FindsTheDeepestPlaceOnTheWay) {
  const YamlNode root = parse("a:\n  b: [1, 2]\nc: 3\n");
  EXPECT_EQ(place(locate(root, "a.b[1]")), "2:10");
  EXPECT_EQ(place(locate(root, "a.b[7]")), "2:6");
  EXPECT_EQ(place(locate(root, "a.x.y")), "2:3");
  EXPECT_EQ(place(locate(root, "x")), "1:1");
  EXPECT_EQ(find_path(root, "a.b[1]")->text, "2");
  EXPECT_EQ(find_path(root, "a.b[2]"), nullptr);
}

}  // namespace
}  // namespace bonescan

#include "detectors/localize/link_use.h"

#include <gmock/gmock.h>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TracedPath over(std::initializer_list<std::uint32_t> request,
                std::initializer_list<std::uint32_t> answer) {
  TracedPath path;
  for (const std::uint32_t link : request) {
    path.request.push_back({ComponentId(link)});
  }
  for (const std::uint32_t link : answer) {
    path.answer.push_back({ComponentId(link), LinkDirection::kDown});
  }
  return path;
}

TEST(LinkUse, CountsCrossingsThereAndBack) {
  LinkUse use;
  use.add(over({1, 2}, {2, 1}));
  use.add(over({1, 3}, {2, 1}));
  EXPECT_EQ(use.over(ComponentId(1)), 4u);
  EXPECT_EQ(use.over(ComponentId(2)), 3u);
  EXPECT_EQ(use.over(ComponentId(3)), 1u);
  EXPECT_EQ(use.over(ComponentId(4)), 0u) << "no path crosses it";
  use.move(over({1, 3}, {2, 1}), over({1, 2}, {2, 1}));
  EXPECT_EQ(use.over(ComponentId(2)), 4u);
  EXPECT_EQ(use.over(ComponentId(3)), 0u);
  use.remove(over({1, 2}, {2, 1}));
  use.remove(over({1, 2}, {2, 1}));
  EXPECT_EQ(use.over(ComponentId(1)), 0u);
}

TEST(LinkUse, TellsOfLinksThatPathsLeaveOneAfterTheOther) {
  LinkUse use;
  for (int i = 0; i < 8; ++i) {
    use.add(over({1}, {1}));
  }
  const auto leave = [&] { use.move(over({1}, {1}), over({2}, {2})); };
  leave();
  EXPECT_THAT(use.take_left(), IsEmpty());
  leave();
  EXPECT_THAT(use.take_left(), ElementsAre(ComponentId(1))) << "four crossings left";
  EXPECT_THAT(use.take_left(), IsEmpty()) << "told once";
  leave();
  use.move(over({2}, {2}), over({1}, {1}));
  leave();
  EXPECT_THAT(use.take_left(), IsEmpty()) << "one came in between";
}

TEST(LinkUse, KeepsCountOfALinkThatAPathGoesOnCrossing) {
  LinkUse use;
  use.add(over({1, 2}, {2, 1}));
  for (int i = 0; i < 4; ++i) {
    use.move(over({1, 2}, {2, 1}), over({1, 3}, {3, 1}));
    use.move(over({1, 3}, {3, 1}), over({1, 2}, {2, 1}));
  }
  EXPECT_THAT(use.take_left(), IsEmpty()) << "link 1 was crossed throughout, 2 and 3 came back";
}

TEST(LinkUse, CountsWhatGoesUpApart) {
  LinkUse use;
  for (int i = 0; i < 4; ++i) {
    use.add(over({3}, {3}));
  }
  for (int i = 0; i < 4; ++i) {
    use.move(over({3}, {3}), over({3}, {4}));
  }
  EXPECT_THAT(use.take_left_up(), IsEmpty()) << "what came down moved";
  for (int i = 0; i < 4; ++i) {
    use.add(over({1}, {1}));  // up, and down again
  }
  EXPECT_EQ(use.up(ComponentId(1)), 4u);
  EXPECT_EQ(use.over(ComponentId(1)), 8u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(use.take_left_up(), IsEmpty());
    use.move(over({1}, {1}), over({2}, {1}));
  }
  EXPECT_THAT(use.take_left_up(), ElementsAre(ComponentId(1)));
  EXPECT_THAT(use.take_left(), IsEmpty()) << "answers still come down over it";
  EXPECT_EQ(use.up(ComponentId(1)), 0u);
  EXPECT_EQ(use.up(ComponentId(2)), 4u);
  use.remove(over({2}, {1}));
  EXPECT_EQ(use.up(ComponentId(2)), 3u);
}

TEST(LinkUse, ReleasedPathsLeaveNothingBehind) {
  LinkUse use;
  for (int i = 0; i < 8; ++i) {
    use.add(over({1}, {1}));
  }
  for (int i = 0; i < 8; ++i) {
    use.remove(over({1}, {1}));
  }
  EXPECT_THAT(use.take_left(), IsEmpty()) << "a task that ends takes no link out of service";
}

}  // namespace
}  // namespace bonescan

#include "analysis/table.h"

#include <catch2/catch.hpp>

using namespace iotrace;

TEST_CASE("display width counts what is seen, not bytes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("\xff\xfe") == 2);
  CHECK(display_width("\xe6\x97") == 2);
}

TEST_CASE("control characters of foreign text are shown, not obeyed") {
  CHECK(printable("a\033[31mb\n") == "a\\x1b[31mb\\x0a");
  CHECK(printable("\u009b31m") == "\\x9b31m");
  CHECK(printable("\x9b") == "\\x9b");
  CHECK(printable("日本") == "日本");
  CHECK(printable("a\xff\xe6\x97z") == "a\\xff\\xe6\\x97z");
}

TEST_CASE("lines break at spaces and hang by the indent") {
  CHECK(wrap("one two three four", 9, 2) == "one two\n  three\n  four");
  CHECK(wrap("FAIL  text", 20, 6) == "FAIL  text");
  CHECK(wrap("a verylongword b", 6, 1) == "a\n verylongword\n b");
  CHECK(wrap("", 10, 2).empty());
}

TEST_CASE("a line may be as wide as the width, and no wider") {
  CHECK(wrap("aaaa bbbb", 9, 2) == "aaaa bbbb");
  CHECK(wrap("aaaa bbbb", 8, 2) == "aaaa\n  bbbb");
}

TEST_CASE("numbers are aligned right, labels left, and no line ends in a space") {
  Table table({{"name", false}, {"n"}}, 1);
  table.add_row({{"日本"}, {"1"}});
  table.add_row({{"x"}, {"1000"}});
  table.add_row({{"none"}});
  CHECK(table.render(80, false) == "name     n\n"
                                   "日本     1\n"
                                   "x     1000\n"
                                   "none\n");
}

TEST_CASE("headings of fewer lines stand at the bottom") {
  Table table({{"name", false}, {"reads\n/op"}}, 1);
  table.add_row({{"x"}, {"16"}});
  CHECK(table.render(80, false) == "      reads\n"
                                   "name    /op\n"
                                   "x        16\n");
}

TEST_CASE("a table that is too wide goes on below under its labels") {
  Table table({{"name", false}, {"aaaa"}, {"bbbb"}, {"cccc"}}, 1);
  table.add_row({{"x"}, {"1"}, {"2"}, {"3"}});
  CHECK(table.render(16, false) == "name  aaaa  bbbb\n"
                                   "x        1     2\n"
                                   "\n"
                                   "name  cccc\n"
                                   "x        3\n");
  CHECK(table.render(15, false).find("aaaa  bbbb") == std::string::npos);
}

TEST_CASE("colour adds escapes and changes no alignment") {
  Table table({{"name", false}, {"n"}}, 1);
  table.add_row({{"x"}, {"10", Style::kGood}});
  table.add_row({{"y"}, {"1"}});
  CHECK(table.render(80, true) == "\033[1mname\033[0m   \033[1mn\033[0m\n"
                                  "x     \033[32m10\033[0m\n"
                                  "y      1\n");
}

// The reads of a batch one after the other, each by pread(2).

#include "userspace/strategies/pread_reader.h"

namespace iotrace {

namespace {

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  return make_pread_reader<PreadReader>(file, shape);
}

}

Strategy pread_strategy() {
  return {.name = "pread", .summary = "pread(2) into a private page-aligned buffer", .prepare = prepare};
}

}

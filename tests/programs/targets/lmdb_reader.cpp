// A small database that LMDB maps, made, or read at random.
//   lmdb_reader make FOLDER RECORDS
//   lmdb_reader read FOLDER LOOKUPS [norahead]
//
// `read` opens the database, says "ready" and waits for a line; then it looks the records up, says
// "done MAJOR-FAULTS", by getrusage over the lookups alone, and waits for another.

#include <lmdb.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace {

constexpr std::size_t kValueBytes = 2000;  // two records to a page, and none on pages of its own

[[noreturn]] void fail(const char* attempt, int error) {
  std::fprintf(stderr, "%s: %s\n", attempt, mdb_strerror(error));
  std::exit(1);
}

void check(const char* attempt, int error) {
  if (error) fail(attempt, error);
}

struct Database {
  Database(const char* folder, std::size_t bytes, unsigned flags) {
    check("create the environment", mdb_env_create(&env));
    check("set the map's size", mdb_env_set_mapsize(env, bytes));
    check("open the environment", mdb_env_open(env, folder, flags, 0644));
    check("begin", mdb_txn_begin(env, nullptr, flags & MDB_RDONLY, &transaction));
    check("open the database", mdb_dbi_open(transaction, nullptr, MDB_INTEGERKEY, &records));
  }

  MDB_env* env = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi records = 0;
};

MDB_val bytes_of(std::uint64_t& key) {
  return {sizeof(key), &key};
}

void make(const char* folder, std::uint64_t count) {
  Database made(folder, count * 2 * kValueBytes + (16u << 20), MDB_NOSYNC);
  std::mt19937_64 random(42);
  std::string value(kValueBytes, '\0');
  for (std::uint64_t key = 0; key < count; ++key) {
    std::ranges::generate(value, [&] { return static_cast<char>(random()); });
    MDB_val name = bytes_of(key), content{value.size(), value.data()};
    check("put", mdb_put(made.transaction, made.records, &name, &content, MDB_APPEND));
  }
  check("commit", mdb_txn_commit(made.transaction));
  check("sync", mdb_env_sync(made.env, 1));
  mdb_env_close(made.env);
}

long major_faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_majflt;
}

void read(const char* folder, int lookups, unsigned flags) {
  Database opened(folder, 1ul << 30, MDB_RDONLY | flags);
  MDB_stat about{};
  check("ask for its size", mdb_stat(opened.transaction, opened.records, &about));
  std::string line;
  std::cout << "ready" << std::endl;
  std::getline(std::cin, line);
  std::mt19937_64 random(7);
  unsigned sum = 0;
  const long before = major_faults();
  for (int lookup = 0; lookup < lookups; ++lookup) {
    std::uint64_t key = random() % about.ms_entries;
    MDB_val name = bytes_of(key), content{};
    check("get", mdb_get(opened.transaction, opened.records, &name, &content));
    for (std::size_t at = 0; at < content.mv_size; ++at)
      sum += static_cast<unsigned char*>(content.mv_data)[at];
  }
  std::cout << "done " << major_faults() - before << " sum " << sum << std::endl;
  std::getline(std::cin, line);
}

}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  if (std::string(argv[1]) == "make")
    make(argv[2], std::strtoull(argv[3], nullptr, 10));
  else
    read(argv[2], std::atoi(argv[3]), argc > 4 ? MDB_NORDAHEAD : 0);
}

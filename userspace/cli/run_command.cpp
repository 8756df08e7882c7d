#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/findings/finding.h"
#include "analysis/record_json.h"
#include "analysis/reports/report.h"
#include "analysis/summary.h"
#include "userspace/cli/commands.h"
#include "userspace/cli/dry_run.h"
#include "userspace/cli/memory_settings.h"
#include "userspace/cli/pattern_settings.h"
#include "userspace/cli/terminal.h"
#include "userspace/controller/ceiling.h"
#include "userspace/controller/file_watch.h"
#include "userspace/controller/fio.h"
#include "userspace/controller/guardian.h"
#include "userspace/controller/interrupt.h"
#include "userspace/controller/measure.h"
#include "userspace/controller/plan.h"
#include "userspace/controller/record_file.h"
#include "userspace/controller/scratch_file.h"
#include "userspace/controller/source_file.h"
#include "userspace/host/host.h"
#include "userspace/probes/canary.h"

namespace iotrace {

namespace {

// The file that is read, whoever owns it; members are destroyed last to first, so a scratch file goes when
// everything that reads it is gone.
struct Source {
  std::optional<ScratchFile> scratch;
  UserFile user_file;
  std::optional<FileWatch> watch;  // of the user's file
  WorkerUser worker_user;

  int fd() const { return scratch ? scratch->fd() : user_file.fd.get(); }
  std::uint64_t size_bytes() const { return scratch ? scratch->size_bytes() : user_file.size_bytes; }
  std::string path() const { return scratch ? scratch->path() : user_file.path; }
};

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::uint64_t longest_read(const Options& options) {
  std::uint64_t longest = 0;
  for (std::uint64_t size : options.read_size_bytes) longest = std::max(longest, size);
  return longest;
}

Result<Source> open_source(const RunSettings& settings, Guardian& guardian, Progress& progress) {
  Source source;
  const std::uint64_t longest = longest_read(settings.options);
  if (settings.file) {
    auto file = open_user_file(*settings.file, longest);
    if (!file) return file.error();
    source.user_file = std::move(*file);
    auto watch = FileWatch::begin(source.fd(), source.path());
    if (!watch) return watch.error();
    source.watch = std::move(*watch);
    auto user = choose_user(settings.user, {source.user_file.owner_uid, source.user_file.owner_gid},
                            Caller::current());
    if (!user) return user.error();
    source.worker_user = std::move(*user);
    return source;
  }
  if (Status room = check_room_for_reads(settings.size_bytes, longest); !room) return room.error();
  auto user = choose_user(settings.user, {geteuid(), getegid()}, Caller::current());
  if (!user) return user.error();
  source.worker_user = std::move(*user);

  progress.phase("writing the scratch file, MiB", settings.size_bytes >> 20);
  auto scratch = ScratchFile::make({
      .folder = ".",
      .size_bytes = settings.size_bytes,
      .uid = source.worker_user.uid,
      .gid = source.worker_user.gid,
      .announce =
          [&](const FileIdentity& file) { guardian.guard_scratch(file.path, file.device, file.inode); },
      .progress =
          [&](std::uint64_t done, std::uint64_t) {
            progress.show(done >> 20, "");
            return !interrupted();
          },
  });
  progress.clear();
  if (!scratch) return scratch.error();
  source.scratch.emplace(std::move(*scratch));
  return source;
}

// Writes the record where it was asked for; where that fails (a full disk), into /tmp, so that nothing
// measured is lost.
Status save(const RunRecord& record, const std::string& path) {
  const std::string text = to_json_text(record);
  Status saved = write_record_file(path, text);
  if (saved) return saved;
  const std::string rescue = fmt::format("/tmp/iotrace-{}.json", getpid());
  if (write_record_file(rescue, text))
    return Error{fmt::format("{}; kept in {}", saved.error().message, rescue)};
  return saved;
}

// Why there is no ceiling, or "".
std::string take_ceiling(const RunContext& context, RunRecord& record, Progress& progress) {
  progress.phase("the device past the cache", 0);
  auto ceiling = measure_ceiling(context);
  progress.clear();
  if (!ceiling) return ceiling.error().message;
  record.ceiling = std::move(ceiling->points);
  record.second_pass_ratio = ceiling->second_pass_ratio;
  return "";
}

Result<std::unique_ptr<ProbeSet>> load_probes(const RunSettings& settings, int file_fd) {
  if (!settings.canary) return ProbeSet::load(settings.probe_names, file_fd, settings.logs);
  auto proven = load_proven(settings.probe_names, file_fd, HookStates(), settings.logs);
  if (!proven) return proven.error();
  if (settings.strict && !proven->failures.empty())
    return unsupported(fmt::format("--strict: {}", fmt::join(proven->failures, "; ")));
  for (const std::string& why : proven->unproven)
    fmt::print(stderr, "iotrace: the canary could not be done, and this probe is unproven: {}\n", why);
  return std::move(proven->probes);
}

Status run(const RunSettings& settings) {
  if (settings.dry_run) return dry_run(settings);
  if (settings.output)
    if (Status writable = check_record_path(*settings.output); !writable) return writable;
  const bool traced = settings.options.traced_reps > 0;
  if (traced && geteuid() != 0)
    return unsupported(
        "run needs root for its probes (CAP_BPF, CAP_PERFMON) and the memory limit: run it with sudo, or "
        "measure throughput alone with --probes off");

  watch_for_interrupts();
  auto guardian = Guardian::start();
  if (!guardian) return guardian.error();
  auto plan = make_plan(settings.tables, settings.seed);
  if (!plan) return plan.error();
  std::optional<std::string> fio;
  if (settings.fio && !(fio = find_fio()))
    return unsupported("--fio: fio is not installed; apt install fio, or leave out --fio");

  RunRecord record{
      .iotrace = IOTRACE_VERSION, .started = utc_now(), .seed = settings.seed, .options = settings.options};
  Progress progress;
  auto source = open_source(settings, *guardian, progress);
  if (!source) return source.error();
  if (Status fits = check_memory(settings, *plan, source->size_bytes()); !fits) return fits;
  if (Status fits = check_patterns(settings, source->size_bytes()); !fits) return fits;
  record.options.user = describe(source->worker_user);
  record.host = host_facts();
  record.file = file_facts(source->fd(), source->path());
  record.file.scratch = source->scratch.has_value();

  std::unique_ptr<ProbeSet> probes;
  if (traced) {
    auto loaded = load_probes(settings, source->fd());
    if (!loaded) return loaded.error();
    probes = std::move(*loaded);
  }
  CachePreparer cache(source->fd(), probes.get());
  const RunContext context{.options = settings.options,
                           .seed = settings.seed,
                           .file_path = source->scratch ? "" : source->path(),
                           .file_fd = source->fd(),
                           .file_size_bytes = source->size_bytes(),
                           .user = source->worker_user,
                           .guardian = &*guardian,
                           .probes = probes.get(),
                           .cache = &cache,
                           .fio = fio};
  const std::string no_ceiling = settings.ceiling ? take_ceiling(context, record, progress) : "--ceiling off";
  Measured measured = measure(context, source->watch ? &*source->watch : nullptr, *plan, progress);
  probes.reset();

  record.rows = std::move(measured.rows);
  if (!no_ceiling.empty())
    for (Row& row : record.rows) row.unavailable["ceiling_ratio"] = no_ceiling;
  record.partial = measured.interrupted;
  record.file.folio_orders = cache.folio_orders();
  summarise(record);
  record.findings = judge(record);
  fmt::print("{}", report_formats().front().render(record, {.colour = wants_colour(),
                                                            .histograms = settings.histograms,
                                                            .details = settings.details}));
  std::fflush(stdout);
  if (settings.output)
    if (Status saved = save(record, *settings.output); !saved) return saved;
  if (record.partial) return Error{"interrupted: the report holds what was measured until then"};
  if (std::ranges::all_of(record.rows, [](const Row& row) { return row.error.has_value(); }))
    return Error{"no row could be measured; the reasons stand in the report"};
  return {};
}

}

int run_command(const RunWords& words) {
  auto settings = run_settings(words);
  if (!settings) return report_error(settings.error());
  Status done = run(*settings);
  return done ? 0 : report_error(done.error());
}

}

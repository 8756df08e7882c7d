#pragma once
// libbpf's objects, each released by its owner's destructor.

#include <memory>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

namespace iotrace {

struct BtfDeleter {
  void operator()(btf* types) const { btf__free(types); }
};
using Btf = std::unique_ptr<btf, BtfDeleter>;

struct LinkDeleter {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using Link = std::unique_ptr<bpf_link, LinkDeleter>;

}

// Any messages that a program may send to the daemon of a simulated GPU: they are answered, or the program is cut off.
#include <cstring>
#include <sys/socket.h>

#include "gpu/load_gpu.h"
#include "runtime/simulated_server/program.h"

namespace {

using namespace wm::runtime;

const wm::gpu::GpuConfig& config() {
  static const auto loaded = wm::gpu::load_gpu("qos16", "configs/gpus");  // started in the project's folder
  if (!loaded) __builtin_trap();
  return *loaded;
}

constexpr const char* kPtx =
    ".version 7.5\n.target sm_75\n.address_size 64\n.global .align 4 .u32 word = 3;\n"
    ".visible .entry store(.param .u64 out, .param .u32 value)\n{\n.reg .b32 %r<4>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d2, [out]; ld.param.u32 %r2, [value]; st.global.u32 [%d2], %r2; ret;\n}\n";

}  // namespace

// The input is a list of messages: an operation, the length of its payload, and the payload. Length 255 stands for the
// load of a module that is right but for its first bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  const Descriptor client(ends[1]);
  auto memory = ProgramMemory::make();
  if (!memory) __builtin_trap();
  ServedProgram program(Descriptor(ends[0]), {1, "fuzz", {}}, {}, config(), *std::move(memory));
  std::size_t at = 0;
  while (at + 2 <= size) {
    ServedHeader header;
    header.op = static_cast<ServedOp>(data[at] % 14);
    header.number = at;
    std::size_t bytes = data[at + 1];
    at += 2;
    Payload payload;
    if (bytes == 255) {
      header.op = ServedOp::load_module;
      ServedLoadModule load;
      bytes = std::min<std::size_t>(sizeof load, size - at);
      std::memcpy(&load, data + at, bytes);
      payload.put(load).text(kPtx).put(std::uint64_t{0x700000210000});
    } else {
      bytes = std::min(bytes, size - at);
      payload.raw(data + at, bytes);
    }
    at += bytes;
    if (!send_served(client, header, payload, false) || !program.read(1U << 20)) break;
    for (ProgramLaunch& launch : program.take_arrivals()) {
      FinishedLaunch done;
      done.ended = wm::Cycles{1};
      if (!program.answer(launch, done)) return 0;
    }
    if (!program.answer_poll(wm::Cycles{1}, true)) break;
    while (receive_served(client, 0)) continue;
  }
  return 0;
}

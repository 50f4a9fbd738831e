// Runs a target on random inputs without libFuzzer, where there is no clang, or under valgrind:
//
//   g++ -std=c++20 -Isrc -I. fuzz/standalone.cc fuzz/cuda_api.cc … && ./a.out SECONDS [SEED [FILE…]]
//
// An input is random bytes, or one of the files with some bytes replaced, inserted or removed.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* count, char*** words);
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                                     std::size_t max_size, unsigned seed);
// Targets that change lines of text change bytes through this.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t /*max_size*/) {
  for (std::size_t i = 0; i < size; i += 61) data[i] ^= static_cast<std::uint8_t>(i);
  return size;
}

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes random_bytes(std::mt19937_64& random) {
  Bytes bytes(random() % 400);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

void change(Bytes& bytes, std::mt19937_64& random) {
  for (std::uint64_t i = random() % 8; i > 0 && !bytes.empty(); --i) {
    const auto at = static_cast<std::ptrdiff_t>(random() % bytes.size());
    const std::uint64_t how = random() % 3;
    if (how == 0) bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
    if (how == 1) bytes.erase(bytes.begin() + at);
    if (how == 2) bytes.insert(bytes.begin() + at, static_cast<std::uint8_t>(random()));
  }
}

}  // namespace

int main(int count, char** words) {
  if (LLVMFuzzerInitialize != nullptr && LLVMFuzzerInitialize(&count, &words) != 0) return 1;
  const double seconds = count > 1 ? std::atof(words[1]) : 10;
  std::mt19937_64 random(count > 2 ? std::strtoull(words[2], nullptr, 10) : 1);
  std::vector<Bytes> files;
  for (int i = 3; i < count; ++i) {
    std::ifstream file(words[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t inputs = 0;
  constexpr std::size_t kMaxBytes = 1U << 16;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    Bytes bytes = files.empty() ? random_bytes(random) : files[random() % files.size()];
    if (!files.empty() && LLVMFuzzerCustomMutator != nullptr && bytes.size() < kMaxBytes) {
      const std::size_t size = bytes.size();
      bytes.resize(kMaxBytes);
      bytes.resize(LLVMFuzzerCustomMutator(bytes.data(), size, kMaxBytes, static_cast<unsigned>(random())));
    } else if (!files.empty()) {
      change(bytes, random);
    }
    std::ofstream("last-input", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++inputs;
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(inputs));
  return 0;
}

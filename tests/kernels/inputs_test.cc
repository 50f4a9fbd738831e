// Inputs are the same bits on every host, compiler and run: their hashes are committed (input_hashes.csv).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/every_benchmark.h"
#include "kernels/table.h"

namespace wm::zoo {

namespace {

// FNV-1a over everything an application is made of.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) value_ = (value_ ^ at[i]) * 0x100000001b3ULL;
  }
  void add(std::uint64_t value) { add(&value, sizeof value); }
  void add(const std::vector<std::byte>& bytes) {
    add(bytes.size());
    add(bytes.data(), bytes.size());
  }
  void add(const gpu::Dim3& d) {
    for (const std::uint32_t v : {d.x, d.y, d.z}) add(std::uint64_t{v});
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

void add(Hash& hash, const gpu::Transfer& t) {
  for (const std::uint64_t v : {std::uint64_t{t.direction == gpu::Transfer::Direction::to_host},
                                std::uint64_t{t.buffer.index}, std::uint64_t{t.offset}, std::uint64_t{t.bytes}})
    hash.add(v);
}

void add(Hash& hash, const gpu::Fill& f) {
  for (const std::uint64_t v : {std::uint64_t{f.buffer.index}, std::uint64_t{f.offset}, std::uint64_t{f.bytes},
                                std::uint64_t{std::to_integer<unsigned>(f.value)}})
    hash.add(v);
}

void add(Hash& hash, const gpu::Launch& l) {
  hash.add(l.kernel.data(), l.kernel.size());
  hash.add(l.grid);
  hash.add(l.block);
  for (const gpu::Argument& argument : l.arguments) {
    hash.add(argument.index());
    if (const auto* s = std::get_if<gpu::Scalar>(&argument); s != nullptr) hash.add(s->bytes);
    if (const auto* b = std::get_if<gpu::BufferArgument>(&argument); b != nullptr) hash.add(b->buffer.index);
  }
}

std::string hash_of(const gpu::Application& app) {
  Hash hash;
  for (const gpu::Buffer& b : app.buffers) {
    hash.add(b.bytes);
    hash.add(b.initial);
  }
  for (const gpu::Step& step : app.steps) std::visit([&hash](const auto& s) { add(hash, s); }, step);
  return hash.text();
}

std::string committed(const std::string& benchmark, const std::string& size) {
  for (const Row& row : read_table("input_hashes.csv"))
    if (row.at("benchmark") == benchmark) return row.at(size);
  return "none";
}

class Inputs : public testing::TestWithParam<const Entry*> {};

}  // namespace

TEST_P(Inputs, AreTheCommittedOnes) {
  const Benchmark& b = GetParam()->benchmark;
  const std::string small = hash_of(b.make(Size::small).application);
  const std::string medium = hash_of(b.make(Size::medium).application);
  EXPECT_EQ(small, committed(b.name, "small")) << "row: " << b.name << ',' << small << ',' << medium;
  EXPECT_EQ(medium, committed(b.name, "medium")) << "row: " << b.name << ',' << small << ',' << medium;
}

INSTANTIATE_TEST_SUITE_P(Zoo, Inputs, testing::ValuesIn(all_benchmarks()), benchmark_name);

}  // namespace wm::zoo

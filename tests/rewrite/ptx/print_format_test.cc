// Formats of OpenCL, and those of the CUDA driver that have the same meaning.
#include "rewrite/ptx/print_format.h"

#include <gtest/gtest.h>

namespace wm::rewrite {
namespace {

TEST(PrintFormat, TheDriverKnowsNoVectorsAndReadsBytesWrong) {
  for (const char* vector : {"%v2d", "%-8v4hlf", "%d %#v16x", "%%%v3f", "%.3v8f", "a%*v2i", "%hhd", "%5hhx"}) {
    EXPECT_TRUE(needs_other_format(vector)) << vector;
  }
  for (const char* other : {"", "%", "%d", "%%v4f", "v4", "%v", "%v5f", "%v1d", "%v44d", "100%", "%hd", "%%hhd"}) {
    EXPECT_FALSE(needs_other_format(other)) << other;
  }
}

std::string described(std::string_view format) {
  const auto plain = plain_format(format);
  if (!plain) return "none";
  std::string text = plain->text + " :";
  for (const PrintedArgument& a : plain->arguments) {
    text += a.kind == PrintedArgument::Kind::is_signed ? " s" : a.kind == PrintedArgument::Kind::floating ? " f" : " u";
    text += std::to_string(a.bytes * 8);
    if (a.stored_bytes != a.bytes) text += "in" + std::to_string(a.stored_bytes * 8);
    if (a.is_vector) text += "x" + std::to_string(a.count);
  }
  return text;
}

TEST(PrintFormat, ElementsBecomeArguments) {
  const std::pair<const char*, const char*> rows[] = {
      {"plain", "plain :"},
      {"%d %u|%c", "%d %u|%c : s32 u32 u32"},
      {"%5.2f%s%p%%", "%5.2f%s%p%% : f64 u64 u64"},
      {"%ld %lx %hd %hhu %5hhx", "%ld %lx %d %u %5x : s64 u64 s16in32 u8in32 u8in32"},
      {"%*.*f", "%*.*f : s32 s32 f64"},
      {"%v2d", "%d,%d : s32x2"},
      {"<%v3hhx>", "<%x,%x,%x> : u8x3"},
      {"%v2hi %v2hlo", "%i,%i %o,%o : s16x2 u32x2"},
      {"%v2ld %v2lf", "%ld,%ld %f,%f : s64x2 f64x2"},
      {"%-+6.3v4hlf", "%-+6.3f,%-+6.3f,%-+6.3f,%-+6.3f : f32x4"},
      {"%v2hg %v2E", "%g,%g %E,%E : f16x2 f32x2"},
  };
  for (const auto& [format, expected] : rows) EXPECT_EQ(described(format), expected) << format;
}

TEST(PrintFormat, WhatCHasNoFormOfIsNotConverted) {
  for (const char* format : {"%v2c", "%v2s", "%v2p", "%v2hhf", "%*v2d", "%.*v2f", "%v5d", "%q", "%", "%v2", "%v2hhhd",
                             "%v2n", "%n", "%v2lld", "%hhd %lld", "%hlf"}) {
    EXPECT_EQ(described(format), "none") << format;
  }
}

}  // namespace
}  // namespace wm::rewrite

// The contents of a buffer, at first or at the end, in the words of a kernel description:
//
//   zero                          every byte 0
//   iota                          0, 1, 2, …
//   {iota: {from: 1, step: 2.5}}  1, 3.5, 6, …
//   random                        uniform in [0, 1) for floats, over the whole range for integers; the seed is 1
//   {random: {low: -1, high: 1, seed: 7}}
//   {fill: 1.5}                   the same value everywhere
//   {values: [1, 2, 3]}           these, exactly as many as the buffer has elements
//   {file: input.bin}             raw bytes, exactly as many as the buffer has; relative to the description
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/yaml.h"
#include "gpu/element.h"

namespace wm::gpu {

std::vector<std::byte> zeros(Element element, std::size_t count);
std::vector<std::byte> iota(Element element, std::size_t count, double from = 0, double step = 1);
std::vector<std::byte> random(Element element, std::size_t count, std::uint64_t seed);
std::vector<std::byte> random_between(Element element, std::size_t count, double low, double high, std::uint64_t seed);

// Exactly `bytes` bytes of the file, or an error that says how many it has.
Result<std::vector<std::byte>> bytes_of_file(const std::string& path, std::size_t bytes);

// `what` names the content in messages ("'content' in x"), `folder` is where relative paths start.
Result<std::vector<std::byte>> read_content(const yaml::Value& value, const std::string& what, Element element,
                                            std::size_t count, const std::string& folder);

}  // namespace wm::gpu

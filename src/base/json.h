// JSON documents whose keys keep their order. The library's templates are compiled once, in json.cc, not in every
// reader.
#pragma once

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<nlohmann::ordered_map>;
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;

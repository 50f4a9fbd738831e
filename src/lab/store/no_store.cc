// The store of a build without SQLite: every call returns an error that names the missing library.
#include "lab/store/store.h"

namespace wm::lab {
namespace {

const Error kMissing{
    "this wm was built without SQLite, which stores need (Debian: libsqlite3-dev); a file that ends in .ndjson does "
    "not"};

}  // namespace

Result<Store> Store::open(const std::string&, Mode) { return kMissing; }
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;
Result<void> Store::put(const Row&) { return kMissing; }
Result<void> Store::put(const std::vector<Row>&) { return kMissing; }
Result<void> Store::put_gpu(const std::string&, const std::string&) { return kMissing; }
Result<void> Store::put(const Confirmation&) { return kMissing; }
Result<std::optional<Row>> Store::find(const std::string&) const { return kMissing; }
Result<void> Store::for_each(const std::function<void(const Row&)>&) const { return kMissing; }
Result<std::vector<Row>> Store::rows() const { return kMissing; }
Result<std::map<std::string, std::string>> Store::gpus() const { return kMissing; }
Result<Confirmations> Store::confirmations() const { return kMissing; }

}  // namespace wm::lab

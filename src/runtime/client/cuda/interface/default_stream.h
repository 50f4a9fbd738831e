// Which stream a call means that names none: the legacy one, or, in the variants of API functions with the suffixes
// _ptsz and _ptds, the calling thread's own.
#pragma once

namespace wm::cuda {

// While an object exists, the calling thread's default stream is its own.
class PerThreadDefaultStream {
 public:
  PerThreadDefaultStream() : before_(active) { active = true; }
  ~PerThreadDefaultStream() { active = before_; }
  PerThreadDefaultStream(const PerThreadDefaultStream&) = delete;
  PerThreadDefaultStream& operator=(const PerThreadDefaultStream&) = delete;

  static bool is_active() { return active; }

 private:
  bool before_;
  static thread_local bool active;
};

}  // namespace wm::cuda

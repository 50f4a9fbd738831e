// An object of each thread that lasts as long as the thread: destructors of the program's own thread_local and static
// objects may still call the driver, and a thread_local object of a library may have ended before them.
#pragma once

#include <pthread.h>

namespace wm::cuda {

// `Tag` tells objects of the same type apart.
template <typename T, typename Tag>
class LastingThreadObject {
 public:
  static T& get() {
    if (of_thread == nullptr) {
      of_thread = new T();
      // The thread library ends it after all thread_local objects; that of the main thread stays.
      ::pthread_setspecific(key(), of_thread);
    }
    return *of_thread;
  }

 private:
  static ::pthread_key_t key() {
    static const ::pthread_key_t made = [] {
      ::pthread_key_t fresh{};
      ::pthread_key_create(&fresh, end);
      return fresh;
    }();
    return made;
  }
  static void end(void* object) {
    of_thread = nullptr;
    delete static_cast<T*>(object);
  }

  static inline thread_local T* of_thread = nullptr;
};

}  // namespace wm::cuda

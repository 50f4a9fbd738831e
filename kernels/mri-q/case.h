// mri-q's inputs, launches and reference, for kernels that read the samples from global or from constant memory.
#pragma once

#include <cmath>
#include <complex>
#include <numeric>

#include "kernels/inputs.h"

namespace wm::zoo::mri_q {

constexpr std::uint32_t kQBlock = 256;
constexpr std::uint32_t kPhiMagBlock = 512;
constexpr float kExtent = 32;  // k-space is [-32, 32) cycles per field of view

struct Input {
  std::uint32_t nx, ny, nz;
  std::vector<float> samples, phi_re, phi_im;  // samples: kx, ky, kz, unused
  std::vector<float> x, y, z;
  [[nodiscard]] std::size_t voxels() const { return x.size(); }
  [[nodiscard]] std::size_t count() const { return phi_re.size(); }
};

inline float coordinate(std::uint32_t i, std::uint32_t n) {
  return static_cast<float>(i) / static_cast<float>(n) - 0.5F;
}

inline Input generate(Size size) {
  Random random(0x3d17);
  Input in{at(size, 16U, 32U, 64U), at(size, 8U, 16U, 64U), at(size, 8U, 16U, 64U), {}, {}, {}, {}, {}, {}};
  const std::size_t count = at(size, 256, 1024, 2048);
  in.samples = uniform_floats(random, 4 * count, -kExtent, kExtent);
  in.phi_re = uniform_floats(random, count, -1, 1);
  in.phi_im = uniform_floats(random, count, -1, 1);
  for (std::uint32_t k = 0; k < in.nz; ++k)
    for (std::uint32_t j = 0; j < in.ny; ++j)
      for (std::uint32_t i = 0; i < in.nx; ++i) {
        in.x.push_back(coordinate(i, in.nx));
        in.y.push_back(coordinate(j, in.ny));
        in.z.push_back(coordinate(k, in.nz));
      }
  return in;
}

// e^(2 pi i k c) for every coordinate c of one axis.
inline std::vector<std::complex<double>> phases(double k, std::uint32_t n) {
  std::vector<std::complex<double>> out(n);
  for (std::uint32_t i = 0; i < n; ++i) out[i] = std::polar(1.0, 2 * std::acos(-1.0) * k * coordinate(i, n));
  return out;
}

// Voxels lie on a grid, so the exponential is a product of three, one an axis: quick, and unlike the kernel's way.
inline void reference(const Input& in, const std::vector<double>& mag, std::vector<float>& re, std::vector<float>& im) {
  std::vector<double> sum_re(in.voxels()), sum_im(in.voxels());
  for (std::size_t s = 0; s < in.count(); ++s) {
    const auto px = phases(in.samples[4 * s], in.nx);
    const auto py = phases(in.samples[4 * s + 1], in.ny);
    const auto pz = phases(in.samples[4 * s + 2], in.nz);
    std::size_t v = 0;
    for (std::uint32_t k = 0; k < in.nz; ++k)
      for (std::uint32_t j = 0; j < in.ny; ++j) {
        const std::complex<double> yz = mag[s] * py[j] * pz[k];
        const double a = yz.real(), b = yz.imag();
        for (std::uint32_t i = 0; i < in.nx; ++i, ++v) {
          sum_re[v] += a * px[i].real() - b * px[i].imag();
          sum_im[v] += a * px[i].imag() + b * px[i].real();
        }
      }
  }
  re.assign(sum_re.begin(), sum_re.end());
  im.assign(sum_im.begin(), sum_im.end());
}

// The entries of the two kernels.
struct Entries {
  const char* phimag;
  const char* q;
};

inline Case make(Size size, const Entries& entries) {
  Input in = generate(size);
  Case c;
  gpu::Application& app = c.application;
  const auto count = static_cast<std::uint32_t>(in.count());
  const auto samples = app.add("samples", in.samples);
  const auto phi_re = app.add("phi_re", in.phi_re), phi_im = app.add("phi_im", in.phi_im);
  const auto x = app.add("x", in.x), y = app.add("y", in.y), z = app.add("z", in.z);
  const auto q_re = app.add_uninitialized("q_re", in.voxels() * 4);
  const auto q_im = app.add_uninitialized("q_im", in.voxels() * 4);
  for (const auto id : {samples, phi_re, phi_im, x, y, z}) app.upload(id);
  app.fill(q_re, std::byte{0});
  app.fill(q_im, std::byte{0});
  app.launch(
      {entries.phimag, {blocks_for(count, kPhiMagBlock)}, {kPhiMagBlock}, arguments(phi_re, phi_im, samples, count)});
  for (const std::uint32_t first : {0U, count / 2})
    app.launch({entries.q,
                {static_cast<std::uint32_t>(in.voxels() / kQBlock)},
                {kQBlock},
                arguments(samples, first, first + count / 2, x, y, z, q_re, q_im)});
  app.download(q_re);
  app.download(q_im);

  c.reference = [in = std::move(in), q_re, q_im](Case& out) {
    std::vector<double> mag(in.count());
    for (std::size_t i = 0; i < mag.size(); ++i)
      mag[i] = double{in.phi_re[i]} * in.phi_re[i] + double{in.phi_im[i]} * in.phi_im[i];
    std::vector<float> re, im;
    reference(in, mag, re, im);
    // A sample's angle, of up to 48 turns, is wrong by at most three roundings of 2^-19 turns (3.6e-5 rad); the fast
    // sine and cosine add 1e-6.
    const double bound = 4e-5 * std::accumulate(mag.begin(), mag.end(), 0.0);
    out.expect(q_re, re, bound);
    out.expect(q_im, im, bound);
  };
  return c;
}

}  // namespace wm::zoo::mri_q

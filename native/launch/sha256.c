/*
 * SHA-256 (FIPS 180-4), because loading `node:crypto` takes a hook longer than its decision and its record.
 *
 *   sha256(bytes)   the digest, in 32 bytes
 */
#include "../addon.h"
#include "launch.h"

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void mix(uint32_t state[8], const unsigned char block[64]) {
  uint32_t words[64];
  for (int t = 0; t < 16; t++)
    words[t] = (uint32_t)block[4 * t] << 24 | block[4 * t + 1] << 16 | block[4 * t + 2] << 8 | block[4 * t + 3];
  for (int t = 16; t < 64; t++) {
    uint32_t x = words[t - 15], y = words[t - 2];
    words[t] = words[t - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + words[t - 7] +
               (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
  }
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int t = 0; t < 64; t++) {
    uint32_t first =
        h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] + words[t];
    uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

napi_value hash_bytes(napi_env env, napi_callback_info info) {
  size_t count = 1, size;
  napi_value given, result;
  unsigned char *bytes, block[128] = {0}, digest[32];
  if (napi_get_cb_info(env, info, &count, &given, NULL, NULL) || count != 1 ||
      napi_get_buffer_info(env, given, (void **)&bytes, &size)) {
    napi_throw_error(env, NULL, "cordon-launch: sha256 takes bytes");
    return NULL;
  }
  /* The square roots of the first 8 primes. */
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  size_t whole = size / 64 * 64, rest = size - whole, last = rest < 56 ? 64 : 128;
  for (size_t at = 0; at < whole; at += 64) mix(state, bytes + at);
  if (rest > 0) memcpy(block, bytes + whole, rest);
  block[rest] = 0x80;
  for (int i = 0; i < 8; i++) block[last - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
  for (size_t at = 0; at < last; at += 64) mix(state, block + at);
  for (int i = 0; i < 32; i++) digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
  napi_create_buffer_copy(env, sizeof digest, digest, NULL, &result);
  return result;
}

//go:build cgo && unix && !(386 || arm || mips || mipsle)

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basics.h"

// One-character formats and the temporal ones, with the bytes of their values.
static const struct {
  const char *format;
  int width, alignment;
  char integer;  // 's' signed, 'u' unsigned, 0 no integer type
} fixed[] = {
    {"c", 1, 1, 's'},   {"C", 1, 1, 'u'},   {"s", 2, 2, 's'},   {"S", 2, 2, 'u'},   {"i", 4, 4, 's'},
    {"I", 4, 4, 'u'},   {"l", 8, 8, 's'},   {"L", 8, 8, 'u'},   {"e", 2, 2, 0},     {"f", 4, 4, 0},
    {"g", 8, 8, 0},     {"tdD", 4, 4, 0},   {"tdm", 8, 8, 0},   {"tts", 4, 4, 0},   {"ttm", 4, 4, 0},
    {"ttu", 8, 8, 0},   {"ttn", 8, 8, 0},   {"tDs", 8, 8, 0},   {"tDm", 8, 8, 0},   {"tDu", 8, 8, 0},
    {"tDn", 8, 8, 0},   {"tiM", 4, 4, 0},   {"tiD", 8, 4, 0},   {"tin", 16, 8, 0},
};

// Formats with offsets of a width.
static const struct {
  const char *format;
  enum peer_kind kind;
  int width;
  bool utf8;
} variable[] = {
    {"z", PEER_BINARY, 4, false}, {"Z", PEER_BINARY, 8, false},    {"u", PEER_BINARY, 4, true},
    {"U", PEER_BINARY, 8, true},  {"vz", PEER_VIEW, 16, false},    {"vu", PEER_VIEW, 16, true},
    {"+l", PEER_LIST, 4, false},  {"+L", PEER_LIST, 8, false},     {"+vl", PEER_LIST_VIEW, 4, false},
    {"+m", PEER_MAP, 4, false},   {"+vL", PEER_LIST_VIEW, 8, false},
    {"+s", PEER_STRUCT, 0, false}, {"+r", PEER_RUNS, 0, false},    {"n", PEER_NULL, 0, false},
    {"b", PEER_BOOL, 0, false},
};

// number reads a decimal number and advances past it.
static bool number(const char **at, bool negative, int64_t *value) {
  const char *from = *at;
  if (negative && *from == '-') from++;
  if (*from < '0' || *from > '9') return false;
  char *end;
  errno = 0;
  *value = strtoll(*at, &end, 10);
  *at = end;
  return errno == 0;
}

static int decimal(const char *at, struct peer_layout *out) {
  int64_t precision, scale, bits = 128;
  if (!number(&at, false, &precision) || *at++ != ',' || !number(&at, true, &scale)) return -1;
  if (*at == ',') {
    at++;
    if (!number(&at, false, &bits)) return -1;
  }
  if (*at != 0 || precision < 1) return -1;
  if (bits != 32 && bits != 64 && bits != 128 && bits != 256) return -1;
  out->kind = PEER_FIXED;
  out->width = bits / 8;
  out->alignment = out->width < 8 ? out->width : 8;
  return 0;
}

static int type_ids(const char *at, struct peer_layout *out) {
  for (; *at != 0 || out->n_ids > 0;) {
    int64_t id;
    if (out->n_ids == 128 || !number(&at, false, &id) || id > 127) return -1;
    for (int k = 0; k < out->n_ids; k++)
      if (out->ids[k] == id) return -1;
    out->ids[out->n_ids++] = (int8_t)id;
    if (*at == 0) break;
    if (*at++ != ',') return -1;
  }
  return 0;
}

int peer_layout_of(const char *format, struct peer_layout *out) {
  memset(out, 0, sizeof *out);
  if (format == NULL) return -1;
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
    if (strcmp(format, fixed[i].format) != 0) continue;
    out->kind = PEER_FIXED;
    out->width = fixed[i].width;
    out->alignment = fixed[i].alignment;
    out->integer = fixed[i].integer != 0;
    out->is_signed = fixed[i].integer == 's';
    return 0;
  }
  for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
    if (strcmp(format, variable[i].format) != 0) continue;
    out->kind = variable[i].kind;
    out->width = variable[i].width;
    out->utf8 = variable[i].utf8;
    return 0;
  }
  if (strncmp(format, "d:", 2) == 0) return decimal(format + 2, out);
  if (strncmp(format, "ts", 2) == 0 && format[2] != 0 && strchr("smun", format[2]) != NULL && format[3] == ':') {
    out->kind = PEER_FIXED;
    out->width = out->alignment = 8;
    return 0;
  }
  if (strncmp(format, "w:", 2) == 0 || strncmp(format, "+w:", 3) == 0) {
    const char *at = strchr(format, ':') + 1;
    out->kind = *format == 'w' ? PEER_FIXED : PEER_FIXED_LIST;
    out->alignment = 1;
    return number(&at, false, &out->width) && *at == 0 && out->width <= INT32_MAX ? 0 : -1;
  }
  if (strncmp(format, "+ud:", 4) == 0 || strncmp(format, "+us:", 4) == 0) {
    out->kind = format[2] == 'd' ? PEER_DENSE : PEER_SPARSE;
    return type_ids(format + 4, out);
  }
  return -1;
}

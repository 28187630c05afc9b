//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The consumer's inside.
#ifndef PEER_LOOK_H
#define PEER_LOOK_H

#include "peer.h"

// A valid array, with its buffers in memory that C can read.
struct peer_node {
  struct peer_layout layout;
  const struct ArrowArray *array;
  const uint8_t *buffers[3];
  int64_t n_variadic;
  const uint8_t **variadic;
  int64_t n;
  struct peer_node *children, *dictionary;
};

// One look at an array.
struct peer_looking {
  struct peer_arena arena;
  const struct peer_view *view;
  struct peer_seen *seen;
  int problems;
};

void peer_problem(struct peer_looking *, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void peer_advise(struct peer_looking *, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// peer_read_schema checks a schema and writes it as text.
void peer_read_schema(struct peer_looking *, const struct ArrowSchema *, const char *path);
// peer_read_array checks an array of a valid schema; false if it cannot be read.
bool peer_read_array(struct peer_looking *, const struct ArrowSchema *, const struct ArrowArray *, const char *path,
                     struct peer_node *);
// peer_check_contents checks the contents of a node's buffers.
void peer_check_contents(struct peer_looking *, struct peer_node *, const char *path);
// peer_fetch returns the bytes of a buffer in memory that C can read, or NULL.
const uint8_t *peer_fetch(struct peer_looking *, const void *, int64_t size, bool on_host);

int64_t peer_integer(const uint8_t *, int64_t i, int64_t width, bool is_signed);
bool peer_valid(const struct peer_node *, int64_t i);
void peer_print(const struct peer_node *, int64_t i, struct peer_text *);
// peer_path makes the path of a child.
char *peer_path(struct peer_looking *, const char *path, const char *child, int64_t number);

// Reads memory that C cannot reach; implemented in Go.
int peerReadMemory(uintptr_t reader, uintptr_t from, void *to, int64_t size);

#endif

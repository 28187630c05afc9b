//go:build cgo && unix && !(386 || arm || mips || mipsle)

#ifndef PEER_STREAM_H
#define PEER_STREAM_H

#include "peer.h"

// The batches of a stream, in order.
struct peer_queue {
  struct peer_source source;
  int64_t next;
  bool failed;
};

struct peer_queue *peer_queue_new(const struct peer_source *);
void peer_queue_free(struct peer_queue *);
int peer_queue_schema(struct peer_queue *, struct ArrowSchema *);
int peer_queue_next(struct peer_queue *, struct ArrowDeviceArray *);

#endif

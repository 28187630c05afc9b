// A stand-in for libnccl.so.2: it moves bytes of host memory between processes through unix
// sockets, in threads, so that calls return ncclInProgress as those of NCCL do. Streams are
// ignored. Macros at compile time: OLD has no ncclCommInitRankConfig, NATIVE has ncclAlltoAll.
// FAKE_NCCL_VERSION in the environment is the version. FAKE_NCCL_FAIL has PHASE:RANK for ranks that fail:
// "call" when it is called to join, "join" while it joins, "move" while it moves bytes, "abort" for an
// abort that never returns. The other ranks do not notice, as those of NCCL may not.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { success, system_error = 2, invalid_argument = 4, invalid_usage = 5, remote_error = 6, in_progress = 7 };
enum { most_ranks = 16 };

typedef struct {
    char internal[128];
} ncclUniqueId;

typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking;
} config;

struct transfer {
    int rank, send;
    char *at;
    size_t left;
    struct transfer *next;
};

typedef struct ncclComm {
    int rank, size;
    char folder[100];
    int listener, wake[2];
    int peers[most_ranks];
    atomic_int state, aborted;
    pthread_t thread;
    int running;
    struct transfer *first, **last;
    struct ncclComm *next_in_group;
} *ncclComm_t;

// fails reports whether a rank is to fail in a phase.
static int fails(const char *phase, int rank) {
    const char *text = getenv("FAKE_NCCL_FAIL");
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s:%d", phase, rank);
    return text != NULL && strstr(text, wanted) != NULL;
}

static __thread int depth;
static __thread ncclComm_t group;

int ncclGetVersion(int *version) {
    const char *text = getenv("FAKE_NCCL_VERSION");
    *version = text != NULL ? atoi(text) : 22800;
    return success;
}

const char *ncclGetErrorString(int result) {
    switch (result) {
    case system_error: return "unhandled system error";
    case invalid_argument: return "invalid argument";
    case invalid_usage: return "invalid usage";
    case remote_error: return "remote process exited or there was a network error";
    }
    return "no error";
}

int ncclGetUniqueId(ncclUniqueId *id) {
    const char *parent = getenv("FAKE_NCCL_FOLDER");
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "%s/n.XXXXXX", parent != NULL ? parent : "/tmp");
    return mkdtemp(id->internal) != NULL ? success : system_error;
}

static void stop_peers(ncclComm_t c) {
    for (int i = 0; i < c->size; i++)
        if (c->peers[i] >= 0)
            shutdown(c->peers[i], SHUT_RDWR);
}

#ifndef OLD
// wait_for waits for a descriptor or for the end of the communicator.
static int wait_for(ncclComm_t c, int descriptor, short events) {
    struct pollfd both[2] = {{descriptor, events, 0}, {c->wake[0], POLLIN, 0}};
    while (poll(both, 2, -1) < 0)
        if (errno != EINTR)
            return 0;
    return !atomic_load(&c->aborted);
}

#endif

static struct sockaddr_un address(ncclComm_t c, int rank) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s/%d", c->folder, rank);
    return a;
}

#ifndef OLD
static int dial(ncclComm_t c, int rank) {
    struct sockaddr_un a = address(c, rank);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (s >= 0 && connect(s, (struct sockaddr *)&a, sizeof a) != 0) {
        if (atomic_load(&c->aborted)) {
            close(s);
            return -1;
        }
        struct pollfd one = {c->wake[0], POLLIN, 0};
        poll(&one, 1, 2);
    }
    char mine = (char)c->rank;
    // The peer may have closed its listener. SIGPIPE in a thread that Go did not start ends the process.
    if (s >= 0 && send(s, &mine, 1, MSG_NOSIGNAL) != 1) {
        close(s);
        return -1;
    }
    return s;
}
#endif

// joining connects to the lower ranks and accepts the higher ones.
#ifndef OLD
static void *joining(void *argument) {
    ncclComm_t c = argument;
    int result = fails("join", c->rank) ? system_error : success;
    for (int i = 0; i < c->rank && result == success; i++)
        if ((c->peers[i] = dial(c, i)) < 0)
            result = remote_error;
    for (int missing = c->size - 1 - c->rank; missing > 0 && result == success; missing--) {
        char rank = 0;
        int s = wait_for(c, c->listener, POLLIN) ? accept4(c->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (s < 0 || !wait_for(c, s, POLLIN) || read(s, &rank, 1) != 1 || rank <= c->rank || rank >= c->size)
            result = remote_error;
        else
            c->peers[(int)rank] = s;
    }
    atomic_store(&c->state, result);
    return NULL;
}
#endif

static int begin(ncclComm_t c, void *(*work)(void *)) {
    if (c->running)
        pthread_join(c->thread, NULL);
    c->running = 0;
    atomic_store(&c->state, in_progress);
    if (pthread_create(&c->thread, NULL, work, c) != 0)
        return system_error;
    c->running = 1;
    return in_progress;
}

#ifndef OLD
int ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank, config *config) {
    if (config->magic != 0xcafebeef || config->version != 21400 || config->blocking != 0 || size > most_ranks || rank < 0 || rank >= size)
        return invalid_argument;
    if (fails("call", rank))
        return system_error;
    ncclComm_t c = calloc(1, sizeof *c);
    c->rank = rank;
    c->size = size;
    c->last = &c->first;
    snprintf(c->folder, sizeof c->folder, "%.90s", id.internal);
    for (int i = 0; i < most_ranks; i++)
        c->peers[i] = -1;
    struct sockaddr_un a = address(c, rank);
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (pipe(c->wake) != 0 || c->listener < 0 || bind(c->listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(c->listener, size) != 0) {
        free(c);
        return system_error;
    }
    *comm = c;
    return begin(c, joining);
}
#endif

int ncclCommGetAsyncError(ncclComm_t c, int *state) {
    *state = atomic_load(&c->state);
    return success;
}

// current returns the first transfer of a pair and a direction that is not done.
static struct transfer *current(ncclComm_t c, int rank, int send) {
    for (struct transfer *t = c->first; t != NULL; t = t->next)
        if (t->rank == rank && t->send == send && t->left > 0)
            return t;
    return NULL;
}

static int step(struct transfer *t, int socket) {
    ssize_t n = t->send ? send(socket, t->at, t->left, MSG_DONTWAIT | MSG_NOSIGNAL) : recv(socket, t->at, t->left, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 1;
    if (n <= 0)
        return 0;
    t->at += n;
    t->left -= (size_t)n;
    return 1;
}

// own copies this rank's transfers to itself.
static int own(ncclComm_t c) {
    struct transfer *from, *to;
    while ((from = current(c, c->rank, 1)) != NULL) {
        if ((to = current(c, c->rank, 0)) == NULL || to->left != from->left)
            return 0;
        memmove(to->at, from->at, from->left);
        from->left = to->left = 0;
    }
    return 1;
}

static void *moving(void *argument) {
    ncclComm_t c = argument;
    int failing = fails("move", c->rank);
    int result = failing ? system_error : own(c) ? success : invalid_usage;
    while (result == success) {
        struct pollfd waiting[most_ranks + 1];
        int open = 0;
        for (int i = 0; i < c->size; i++) {
            short events = (current(c, i, 1) ? POLLOUT : 0) | (current(c, i, 0) ? POLLIN : 0);
            if (i != c->rank && events)
                waiting[open++] = (struct pollfd){c->peers[i], events, 0};
        }
        if (open == 0)
            break;
        waiting[open] = (struct pollfd){c->wake[0], POLLIN, 0};
        if (poll(waiting, open + 1, -1) < 0 && errno != EINTR)
            result = system_error;
        for (int i = 0; i < c->size && result == success; i++) {
            struct transfer *out = current(c, i, 1), *in = current(c, i, 0);
            if ((out != NULL && i != c->rank && !step(out, c->peers[i])) || (in != NULL && i != c->rank && !step(in, c->peers[i])))
                result = remote_error;
        }
        if (atomic_load(&c->aborted))
            result = remote_error;
    }
    while (c->first != NULL) {
        struct transfer *next = c->first->next;
        free(c->first);
        c->first = next;
    }
    c->last = &c->first;
    if (result != success && !failing)
        stop_peers(c);
    atomic_store(&c->state, result);
    return NULL;
}

int ncclGroupStart(void) {
    depth++;
    return success;
}

static int add(ncclComm_t c, int rank, int send, void *at, size_t bytes) {
    if (depth == 0 || rank < 0 || rank >= c->size)
        return invalid_usage;
    if (atomic_load(&c->state) != success)
        return invalid_usage;
    if (c->first == NULL) {
        c->next_in_group = group;
        group = c;
    }
    struct transfer *t = calloc(1, sizeof *t);
    *t = (struct transfer){rank, send, at, bytes, NULL};
    *c->last = t;
    c->last = &t->next;
    return success;
}

int ncclSend(const void *from, size_t count, int type, int rank, ncclComm_t c, void *stream) {
    (void)stream;
    return type == 0 ? add(c, rank, 1, (void *)from, count) : invalid_argument;
}

int ncclRecv(void *to, size_t count, int type, int rank, ncclComm_t c, void *stream) {
    (void)stream;
    return type == 0 ? add(c, rank, 0, to, count) : invalid_argument;
}

int ncclGroupEnd(void) {
    if (depth == 0)
        return invalid_usage;
    if (--depth > 0)
        return success;
    int result = success;
    while (group != NULL) {
        ncclComm_t c = group;
        group = c->next_in_group;
        if (begin(c, moving) != in_progress)
            return system_error;
        result = in_progress;
    }
    return result;
}

#ifdef NATIVE
int ncclAlltoAll(const void *from, void *to, size_t count, int type, ncclComm_t c, void *stream) {
    ncclGroupStart();
    for (int i = 0; i < c->size; i++) {
        ncclSend((const char *)from + (size_t)i * count, count, type, i, c, stream);
        ncclRecv((char *)to + (size_t)i * count, count, type, i, c, stream);
    }
    return ncclGroupEnd();
}
#endif

int ncclCommFinalize(ncclComm_t c) {
    int state = atomic_load(&c->state);
    return state == in_progress ? in_progress : state;
}

static int end(ncclComm_t c) {
    if (c->running)
        pthread_join(c->thread, NULL);
    for (int i = 0; i < c->size; i++)
        if (c->peers[i] >= 0)
            close(c->peers[i]);
    close(c->listener);
    close(c->wake[0]);
    close(c->wake[1]);
    struct sockaddr_un a = address(c, c->rank);
    unlink(a.sun_path);
    rmdir(c->folder);
    free(c);
    return success;
}

int ncclCommDestroy(ncclComm_t c) { return end(c); }

int ncclCommAbort(ncclComm_t c) {
    while (fails("abort", c->rank))
        pause();
    atomic_store(&c->aborted, 1);
    char one = 1;
    if (write(c->wake[1], &one, 1) != 1)
        return system_error;
    return end(c);
}

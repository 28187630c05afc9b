//go:build !(386 || arm || mips || mipsle)

#include <stdatomic.h>
#include <stdlib.h>

#include "tree.h"
#include "_cgo_export.h"

/* The name of a node is its slot, the slot's generation and its number in the tree,
   so a stale name is recognised. Slots are never freed. */
enum { SLOT_BITS = 20, GENERATION_BITS = 24, NODE_BITS = 20, SLOTS_AT_ONCE = 256 };

struct slot {
	_Atomic uint32_t generation; /* odd while it holds a tree */
	_Atomic uint32_t live;
	uint64_t owner;
	void *memory;
	_Atomic uint8_t *released; /* one for each node, after the memory */
	uint32_t nodes;
	uint32_t next;
};

static struct slot *_Atomic chunks[(1 << SLOT_BITS) / SLOTS_AT_ONCE];

/* Slots without a tree; the one that has been empty longest is reused first. */
static struct {
	atomic_flag locked;
	uint32_t first, last, length, made;
} idle = {.locked = ATOMIC_FLAG_INIT};

static void lock(void) {
	while (atomic_flag_test_and_set_explicit(&idle.locked, memory_order_acquire)) {
	}
}

static void unlock(void) { atomic_flag_clear_explicit(&idle.locked, memory_order_release); }

static struct slot *slot_at(uint32_t number) {
	struct slot *chunk = atomic_load(&chunks[number / SLOTS_AT_ONCE]);
	return chunk == NULL ? NULL : chunk + number % SLOTS_AT_ONCE;
}

static const volatile int never;
const volatile int *gpuframe_arrow_forked = &never;

void gpuframe_arrow_watch(const volatile int *flag) { gpuframe_arrow_forked = flag; }

static void put(uint32_t number) {
	if (idle.length++ == 0) {
		idle.first = number;
	} else {
		slot_at(idle.last)->next = number;
	}
	idle.last = number;
}

static int grow(void) {
	if (idle.made == 1u << SLOT_BITS) {
		return 0;
	}
	struct slot *chunk = calloc(SLOTS_AT_ONCE, sizeof *chunk);
	if (chunk == NULL) {
		return 0;
	}
	atomic_store(&chunks[idle.made / SLOTS_AT_ONCE], chunk);
	for (int i = 0; i < SLOTS_AT_ONCE; i++) {
		put(idle.made++);
	}
	return 1;
}

static int take(uint32_t *number) {
	lock();
	int found = idle.length > 0 || grow();
	if (found) {
		*number = idle.first;
		idle.first = slot_at(*number)->next;
		idle.length--;
	}
	unlock();
	return found;
}

static uint64_t name(uint32_t number, uint32_t generation) {
	return (uint64_t)(generation & ((1u << GENERATION_BITS) - 1)) << (SLOT_BITS + NODE_BITS) | (uint64_t)number << NODE_BITS;
}

/* Returns the slot of a node if its tree has not ended. */
static struct slot *find(uint64_t node, uint32_t *number) {
	*number = (uint32_t)(node >> NODE_BITS) & ((1u << SLOT_BITS) - 1);
	struct slot *s = slot_at(*number);
	if (s == NULL) {
		return NULL;
	}
	uint32_t generation = atomic_load(&s->generation);
	if ((generation & 1) == 0 || name(*number, generation) != (node & ~(uint64_t)((1u << NODE_BITS) - 1))) {
		return NULL;
	}
	return s;
}

uint64_t gpuframe_arrow_tree_begin(size_t bytes, uint32_t nodes, uint64_t owner, void **memory) {
	uint32_t number;
	if (nodes == 0 || nodes > 1u << NODE_BITS || bytes > SIZE_MAX - nodes) {
		return 0;
	}
	void *block = calloc(1, bytes + nodes);
	if (block == NULL) {
		return 0;
	}
	if (!take(&number)) {
		free(block);
		return 0;
	}
	struct slot *s = slot_at(number);
	s->owner = owner;
	s->memory = *memory = block;
	s->released = (_Atomic uint8_t *)((char *)block + bytes);
	s->nodes = nodes;
	atomic_store(&s->live, nodes);
	return name(number, atomic_fetch_add(&s->generation, 1) + 1);
}

static void end(struct slot *s, uint32_t number) {
	void *memory = s->memory;
	atomic_fetch_add(&s->generation, 1);
	free(memory);
	lock();
	put(number);
	unlock();
}

void gpuframe_arrow_tree_drop(uint64_t tree) {
	uint32_t number;
	struct slot *s = find(tree, &number);
	if (s != NULL) {
		end(s, number);
	}
}

uint64_t gpuframe_arrow_tree_owner(uint64_t node) {
	uint32_t number;
	struct slot *s = find(node, &number);
	return s == NULL ? 0 : s->owner;
}

void *gpuframe_arrow_tree_memory(uint64_t node, uint64_t *owner) {
	uint32_t number;
	struct slot *s = find(node, &number);
	if (s == NULL) {
		return NULL;
	}
	*owner = s->owner;
	return s->memory;
}

/* Claims the only release of a node. */
static struct slot *claim(uint64_t node, uint32_t *number) {
	struct slot *s = find(node, number);
	uint32_t which = (uint32_t)node & ((1u << NODE_BITS) - 1);
	if (s == NULL || which >= s->nodes || atomic_exchange(&s->released[which], 1) != 0) {
		return NULL;
	}
	return s;
}

/* Counts a node's release; the last one ends the tree and notifies the owner. */
static void finish(struct slot *s, uint32_t number) {
	if (atomic_fetch_sub(&s->live, 1) == 1) {
		uint64_t owner = s->owner;
		end(s, number);
		if (owner != 0 && (owner & GPUFRAME_ARROW_MARK) == 0) {
			gpuframeArrowTreeEnded(owner);
		}
	}
}

void gpuframe_arrow_own_schema(struct gpuframe_arrow_schema *self) {
	uint32_t number;
	if (self == NULL) {
		return;
	}
	if (*gpuframe_arrow_forked) { /* the thread that holds the lock may not exist here */
		self->release = NULL;
		return;
	}
	struct slot *s = claim(self->private_data, &number);
	self->release = NULL;
	if (s == NULL) {
		return;
	}
	struct gpuframe_arrow_schema **children = (struct gpuframe_arrow_schema **)self->children;
	for (int64_t i = 0; i < self->n_children; i++) {
		gpuframe_arrow_release_schema(children[i]);
	}
	gpuframe_arrow_release_schema((struct gpuframe_arrow_schema *)self->dictionary);
	finish(s, number);
}

void gpuframe_arrow_own_array(struct gpuframe_arrow_array *self) {
	uint32_t number;
	if (self == NULL) {
		return;
	}
	if (*gpuframe_arrow_forked) { /* the thread that holds the lock may not exist here */
		self->release = NULL;
		return;
	}
	struct slot *s = claim(self->private_data, &number);
	self->release = NULL;
	if (s == NULL) {
		return;
	}
	struct gpuframe_arrow_array **children = (struct gpuframe_arrow_array **)self->children;
	for (int64_t i = 0; i < self->n_children; i++) {
		gpuframe_arrow_release_array(children[i]);
	}
	gpuframe_arrow_release_array((struct gpuframe_arrow_array *)self->dictionary);
	finish(s, number);
}

void gpuframe_arrow_release_schema(struct gpuframe_arrow_schema *schema) {
	if (schema != NULL && schema->release != NULL) {
		schema->release(schema);
	}
}

void gpuframe_arrow_release_array(struct gpuframe_arrow_array *array) {
	if (array != NULL && array->release != NULL) {
		array->release(array);
	}
}

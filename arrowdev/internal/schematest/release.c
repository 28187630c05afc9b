//go:build !(386 || arm || mips || mipsle)

#include <stdatomic.h>

#include "../cabi/arrow_abi.h"
#include "release.h"

void schematest_release(void *schema) {
	struct gpuframe_arrow_schema *s = schema;
	atomic_fetch_add((_Atomic int64_t *)s->private_data, 1);
	s->release = NULL;
}

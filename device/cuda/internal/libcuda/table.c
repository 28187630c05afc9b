//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct libcuda_table libcuda;

#define LIBCUDA_REQUIRED_ROW(name, parameters) {#name, offsetof(struct libcuda_table, name), 0},
#define LIBCUDA_OPTIONAL_ROW(name, since, parameters) {#name, offsetof(struct libcuda_table, name), since},

// since is zero for a required symbol.
static const struct {
    const char *name;
    size_t offset;
    int since;
} rows[] = {LIBCUDA_SYMBOLS(LIBCUDA_REQUIRED_ROW, LIBCUDA_OPTIONAL_ROW)};

enum { row_count = sizeof rows / sizeof rows[0] };

int32_t libcuda_load(const char *path, char *message, size_t size) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(message, size, "%s", reason != NULL ? reason : "no reason given");
        return LIBCUDA_NOT_OPENED;
    }
    for (size_t i = 0; i < row_count; i++) {
        void *symbol = dlsym(library, rows[i].name);
        if (symbol == NULL && rows[i].since == 0) {
            snprintf(message, size, "%s", rows[i].name);
            memset(&libcuda, 0, sizeof libcuda);
            dlclose(library);
            return LIBCUDA_SYMBOL_MISSING;
        }
        // C has no conversion from an object pointer to a function pointer.
        memcpy((char *)&libcuda + rows[i].offset, &symbol, sizeof symbol);
    }
    // The library stays open: the driver does not support unloading.
    return LIBCUDA_LOADED;
}

int32_t libcuda_since(const char *name) {
    for (size_t i = 0; i < row_count; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].since;
    }
    return 0;
}

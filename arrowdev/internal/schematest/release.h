#ifndef GPUFRAME_SCHEMATEST_RELEASE_H
#define GPUFRAME_SCHEMATEST_RELEASE_H

/* A release that adds one to the int64_t that private_data points at and marks
   the struct as released. It does not release children, so that tests
   can count the consumer's releases of them. */
void schematest_release(void *schema);

#endif

#ifndef GPUFRAME_CABITEST_CONSUMER_H
#define GPUFRAME_CABITEST_CONSUMER_H

/* Call a struct's release, on this thread or on a new one that is joined. */
void consumer_release_array(void *array);
void consumer_release_schema(void *schema);
int consumer_release_array_on_thread(void *array);
int consumer_release_schema_on_thread(void *schema);

#endif

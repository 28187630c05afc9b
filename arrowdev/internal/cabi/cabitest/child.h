#ifndef GPUFRAME_CABITEST_CHILD_H
#define GPUFRAME_CABITEST_CHILD_H

/* The exit codes of a child that finds a struct unreleased after its release, that
   receives data, and that receives no error message. */
enum { STILL_THERE = 2, GIVEN = 3, UNEXPLAINED = 4 };

/* Use a struct of this library in a forked child, and return its status from
   waitpid, or -1. */
int release_array_in_child(void *array);
int release_schema_in_child(void *schema);
int use_stream_in_child(void *stream);

#endif

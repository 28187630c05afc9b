#ifndef GPUFRAME_CABITEST_CHILD_H
#define GPUFRAME_CABITEST_CHILD_H

/* With what a child ends that finds a struct unreleased after its release, that is
   given something, and that is given no reason. */
enum { STILL_THERE = 2, GIVEN = 3, UNEXPLAINED = 4 };

/* Use a struct of this library in a forked child, and return how that ended, as
   waitpid gives it, or -1. */
int release_array_in_child(void *array);
int release_schema_in_child(void *schema);
int use_stream_in_child(void *stream);

#endif

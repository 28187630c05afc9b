//go:build unix && !(386 || arm || mips || mipsle)

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "producer.h"

/* The alarm ends a child that waits for a thread that does not exist in it. */
enum { SECONDS = 20 };

int consumer_delete_in_child(void *tensor, int legacy) {
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		alarm(SECONDS);
		consumer_delete(tensor, legacy);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

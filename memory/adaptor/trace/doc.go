// Package trace reads and writes logs of memory requests in the CSV form of RMM,
// the memory manager of RAPIDS, so that the replay tools of either project read
// the logs of both.
//
//	Thread,Time,Action,Pointer,Size,Stream
//	1,14:21:19.998533,allocate,0x30a000000,256,0x2
//	1,14:21:32.661875,free,0x30a000000,256,0x2
//
// [Read] yields one [Event] after the other and holds none of them;
// [Event.AppendText] writes one. The adaptor that writes such logs is
// adaptor.Logging.
//
// # What is read
//
// The columns are found by the names in the first line, so their order does not
// matter and further columns are ignored. Thread and Size are decimal. Pointer
// and Stream are hexadecimal, with or without 0x, and a pointer may be (nil).
// Time is of the day, with a dot or, as RMM once wrote it, a colon before the
// microseconds, or seconds since 1970. The versions of RMM's log that its
// repository and manual show are all of this form.
package trace

// Package forks reports to C code whether it runs in a forked child. Go's other threads do
// not exist there, so a call of Go could block without end. Callbacks that consumers
// call, such as releases of exported memory, check it before they call Go.
package forks

package share

import (
	"net"
	"syscall"
)

const hasCredentials = true

// credentialsOf returns the kernel's record of the process at the other end.
func credentialsOf(connection *net.UnixConn) (Credentials, error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return Credentials{}, err
	}
	var credentials *syscall.Ucred
	var failure error
	err = raw.Control(func(descriptor uintptr) {
		credentials, failure = syscall.GetsockoptUcred(int(descriptor), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = failure
	}
	if err != nil {
		return Credentials{}, err
	}
	return Credentials{Process: int(credentials.Pid), User: int(credentials.Uid), Group: int(credentials.Gid)}, nil
}

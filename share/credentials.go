package share

// Credentials identify a client, as the kernel saw it when it connected.
type Credentials struct {
	// Process is its process ID. The system may reuse it after the client has ended.
	Process int
	// User and Group are its effective user ID and group ID.
	User, Group int
}

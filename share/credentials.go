package share

// Credentials say who a client is, as the kernel saw it when it connected.
type Credentials struct {
	// Process is its number, which a later process may have once it is gone.
	Process int
	// User and Group are the numbers of its effective user and group.
	User, Group int
}

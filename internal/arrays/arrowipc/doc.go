// Package arrowipc reads Arrow IPC streams and files that may be damaged or hostile.
//
//	reader, err := arrowipc.Stream(r, arrowipc.Options{})
//	defer reader.Release()
//	for reader.Next() {
//		use(reader.Record())
//	}
//	err = reader.Err()
//
// arrow-go trusts what a message claims: it allocates the lengths, follows nested fields to
// any depth, and panics if a buffer does not lie in its message. This package checks each
// message before arrow-go reads it, bounds each allocation, and turns panics into errors.
//
// It does not check the values in the buffers, such as offsets of strings:
// column.FromArray does that when a record is copied to a device.
package arrowipc

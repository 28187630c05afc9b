package sink

// SetLeastDeviceRows sets the number of rows from which tables are encoded on their device, and returns a
// function that sets it back.
func SetLeastDeviceRows(rows int64) func() {
	before := leastDeviceRows
	leastDeviceRows = rows
	return func() { leastDeviceRows = before }
}

// SetMostGroupBytes sets the limit of the memory of a row group, and returns a function that sets it back.
func SetMostGroupBytes(bytes int64) func() {
	before := mostGroupBytes
	mostGroupBytes = bytes
	return func() { mostGroupBytes = before }
}

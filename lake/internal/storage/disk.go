package storage

import "os"

// disk has calls of the operating system that write to files of the machine. Tests change them.
var disk = struct {
	write  func(file *os.File, contents []byte) error
	sync   func(file *os.File) error
	link   func(old, name string) error
	rename func(old, name string) error
}{writeAll, (*os.File).Sync, os.Link, os.Rename}

func writeAll(file *os.File, contents []byte) error {
	_, err := file.Write(contents)
	return err
}

// Hook makes the calls of the operating system that write to files of the machine those of a function, for tests. It returns
// a function that undoes this.
func Hook(call func(name string, act func() error) error) (reset func()) {
	original := disk
	disk.write = func(file *os.File, contents []byte) error {
		return call("write", func() error { return original.write(file, contents) })
	}
	disk.sync = func(file *os.File) error { return call("sync", func() error { return original.sync(file) }) }
	disk.link = func(old, name string) error {
		return call("link", func() error { return original.link(old, name) })
	}
	disk.rename = func(old, name string) error {
		return call("rename", func() error { return original.rename(old, name) })
	}
	return func() { disk = original }
}

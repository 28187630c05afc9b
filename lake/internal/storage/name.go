package storage

import (
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/objectstore"
)

// Name returns a name that metadata or users write as gpuframe has it: URLs of files of this machine are paths, and s3a and s3n
// are s3. Others are as they are.
//
// # Errors
//
// The URL is that of a file of another machine, such as file://host/folder.
func Name(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "file:"); ok {
		rest, hasHost := strings.CutPrefix(rest, "//")
		if !hasHost {
			return "/" + strings.TrimLeft(rest, "/"), nil
		}
		host, path, _ := strings.Cut(rest, "/")
		if host != "" && host != "localhost" {
			return "", fmt.Errorf("%s is a file of the machine %q, expected file:/// and a path", objectstore.Display(name), host)
		}
		return "/" + strings.TrimLeft(path, "/"), nil
	}
	for _, scheme := range []string{"s3a://", "s3n://"} {
		if rest, ok := strings.CutPrefix(name, scheme); ok {
			return "s3://" + rest, nil
		}
	}
	return name, nil
}

// Name is [Name] for files of the storage. In a file system, a host is a folder: writers make such names of relative ones.
func (s Storage) Name(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "file:"); ok && s.System != nil {
		return "/" + strings.TrimLeft(rest, "/"), nil
	}
	return Name(name)
}

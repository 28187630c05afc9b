// Package rangecache keeps ranges of objects of stores on a local disk.
//
// A folder of the cache has one folder for each version of an object, which a hash of its key names, and in it one file for
// each range. Files are written under another name and renamed, have a checksum for each block, and are never changed, so that
// processes share a folder: readers take no lock. Writers lock the file "usage", which has the sum of the sizes, and leave
// a range out while another process has the lock.
package rangecache

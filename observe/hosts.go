package observe

import (
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
)

// accepted reports whether the handler answers requests for a host. A page of another origin can
// have its own name resolve to the address of this process: the browser takes the process then for
// a part of that page, but sends the name of the page as the host.
func (o HandlerOptions) accepted(request *http.Request) bool {
	name := request.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	// No browser leaves out the host, and nobody can have an address resolve to another one.
	if name == "" || net.ParseIP(name) != nil || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if o.Hosts != nil {
		return slices.ContainsFunc(o.Hosts, func(host string) bool { return host == "*" || strings.EqualFold(host, name) })
	}
	own, err := os.Hostname()
	return err == nil && strings.EqualFold(own, name)
}

package azure

import (
	"fmt"
	"net/url"
	"strings"
)

// hostSuffixes are those of the hosts of the service in the clouds of Azure.
var hostSuffixes = []string{
	".blob.core.windows.net", ".blob.core.chinacloudapi.cn", ".blob.core.usgovcloudapi.net", ".blob.core.cloudapi.de",
	".blob.storage.azure.net", ".blob.fabric.microsoft.com",
}

// trusts returns an error if the credentials are not for an endpoint, which a URL of a query names. A token is for all hosts
// of Azure. A key or a signature is only for those of its account.
func (s settings) trusts(endpoint string) error {
	if endpoint == s.endpoint || s.credential == nil && s.key == "" && s.sas == "" && s.anonymous {
		return nil
	}
	host := hostOf(endpoint)
	if host != "" && host == hostOf(s.endpoint) {
		return nil
	}
	account, ofAzure := accountOf(host)
	switch tokens := s.credential != nil || s.key == "" && s.sas == ""; {
	case tokens && ofAzure, ofAzure && s.account != "" && strings.EqualFold(account, s.account):
		return nil
	case tokens:
		return fmt.Errorf("the URL names %s, which is no host of Azure, so that it gets no token: make a store with azure.New and Options.Endpoint for it: %w", host, errCredentials)
	case ofAzure:
		return fmt.Errorf("the URL names the account %s, and the credentials are not known to be for it: set AZURE_STORAGE_ACCOUNT, or make a store with azure.New and its credentials: %w", account, errCredentials)
	}
	return fmt.Errorf("the URL names %s, and the credentials are not for that host: make a store with azure.New and Options.Endpoint for it: %w", host, errCredentials)
}

// hostOf returns the host of an endpoint with its port, in small letters, or empty text.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// plainHost reports whether a text is a host of a URL, with a port or without one, and nothing else.
func plainHost(text string) bool {
	u, err := url.Parse("https://" + text)
	return err == nil && u.Hostname() != "" && u.Host == text
}

// accountOf returns the account of a host of Azure.
func accountOf(host string) (account string, ok bool) {
	for _, suffix := range hostSuffixes {
		if before, ok := strings.CutSuffix(host, suffix); ok && before != "" {
			account, _, _ = strings.Cut(before, ".")
			return account, true
		}
	}
	return "", false
}

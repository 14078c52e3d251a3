//go:build !unix

package attack

func mostFiles() int { return commonFiles }

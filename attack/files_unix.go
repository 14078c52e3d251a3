//go:build unix

package attack

import "syscall"

// mostFiles is how many files the process may have open.
func mostFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return commonFiles
	}
	const many = 1 << 20 // more than anybody needs; the limit may be "unlimited"
	return int(min(uint64(limit.Cur), many))
}

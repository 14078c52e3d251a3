package limiter

// A lineup is the clients that have something to send, the smallest key first; of equal keys the one whose next attempt
// came first. Each step costs the logarithm of the clients in it.
type lineup struct {
	heap []standing
	at   []int32 // by client: its place in heap; nobody: not in line
}

type standing struct {
	key, tie uint64
	client   int32
}

func (s standing) before(o standing) bool {
	return s.key < o.key || s.key == o.key && s.tie < o.tie
}

func (l *lineup) open(client int) {
	for len(l.at) <= client {
		l.at = append(l.at, nobody)
	}
}

// set puts a client in line, or moves it.
func (l *lineup) set(client int, key, tie uint64) {
	s := standing{key, tie, int32(client)}
	i := l.at[client]
	if i == nobody {
		i = int32(len(l.heap))
		l.heap = append(l.heap, s)
		l.at[client] = i
	} else {
		l.heap[i] = s
	}
	l.up(int(i))
	l.down(int(l.at[client]))
}

// drop takes a client out of line, if it is there.
func (l *lineup) drop(client int) {
	i := l.at[client]
	if i == nobody {
		return
	}
	last := len(l.heap) - 1
	moved := l.heap[last]
	l.heap = l.heap[:last]
	l.at[client] = nobody
	if int(i) < last {
		l.heap[i] = moved
		l.at[moved.client] = i
		l.up(int(i))
		l.down(int(l.at[moved.client]))
	}
}

func (l *lineup) up(i int) {
	s := l.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !s.before(l.heap[parent]) {
			break
		}
		l.put(i, l.heap[parent])
		i = parent
	}
	l.put(i, s)
}

func (l *lineup) down(i int) {
	s := l.heap[i]
	for {
		child := 2*i + 1
		if child >= len(l.heap) {
			break
		}
		if child+1 < len(l.heap) && l.heap[child+1].before(l.heap[child]) {
			child++
		}
		if !l.heap[child].before(s) {
			break
		}
		l.put(i, l.heap[child])
		i = child
	}
	l.put(i, s)
}

func (l *lineup) put(i int, s standing) {
	l.heap[i] = s
	l.at[s.client] = int32(i)
}

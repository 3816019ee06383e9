/* SPDX-License-Identifier: MIT */
// Much that is inlined: containers and algorithms of the library with types of this file's own, COUNT times. All of it
// is local, so that the same object can be in a program many times: see make_inlined. UNIT is the name of the entry.
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace
{
struct Key {
	unsigned a, b;
	bool operator<(const Key &other) const { return std::tie(a, b) < std::tie(other.a, other.b); }
	bool operator==(const Key &other) const { return a == other.a && b == other.b; }
};
struct Hash {
	size_t operator()(const Key &key) const { return key.a * 31u + key.b; }
};
template <int N> struct Value : Key {
	std::vector<Key> keys;
	unsigned mix(unsigned seed) const
	{
		return std::accumulate(keys.begin(), keys.end(), seed, [](unsigned sum, const Key &key) {
			return sum * 2654435761u + key.a * N + key.b;
		});
	}
};

template <int N> __attribute__((noinline)) unsigned work(unsigned seed)
{
	std::map<Key, Value<N>> ordered;
	std::unordered_map<Key, Value<N>, Hash> hashed;
	std::vector<std::shared_ptr<Value<N>>> shared;
	std::deque<Value<N>> queue;
	std::list<Value<N>> list;
	std::set<Key> seen;
	std::function<unsigned(const Value<N> &)> mix = [seed](const Value<N> &value) { return value.mix(seed); };
	unsigned sum = 0;

	for (unsigned i = 0; i < 40; i++) {
		Value<N> value;

		seed = seed * 1103515245u + 12345u;
		value.a = seed % 97;
		value.b = seed / 97 % 89;
		for (unsigned k = 0; k < i % 7; k++)
			value.keys.push_back({ seed >> k, k });
		ordered[value] = value;
		hashed[value] = value;
		shared.push_back(std::make_shared<Value<N>>(value));
		queue.push_front(value);
		list.push_back(value);
		seen.insert(value);
		sum += mix(value);
	}
	std::sort(shared.begin(), shared.end(), [](const auto &x, const auto &y) { return *x < *y; });
	std::stable_sort(queue.begin(), queue.end());
	list.sort();
	for (const auto &one : ordered)
		sum += hashed[one.first].mix(sum);
	for (const auto &one : shared)
		sum += mix(*one) + (unsigned)seen.count(*one);
	return sum;
}

template <int... N> unsigned all(unsigned seed, std::integer_sequence<int, N...>)
{
	return (work<N>(seed) + ...);
}
}

extern "C" unsigned UNIT(unsigned seed);
extern "C" unsigned UNIT(unsigned seed)
{
	return all(seed, std::make_integer_sequence<int, COUNT>());
}

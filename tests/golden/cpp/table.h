/* A hash table from strings to anything, and the strings it keeps. */
#ifndef STOCK_TABLE_H
#define STOCK_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TABLE_VERSION 3
#define TABLE_SMALLEST 8
#define TABLE_LARGEST (1u << 28)
#define TABLE_COUNT(table) ((table)->count)
#define TABLE_EACH(table, at)                                  \
    for (size_t at = 0; at < (table)->room; ++at)              \
        if ((table)->slots[at].key == NULL) {                  \
        } else

#if defined(__GNUC__)
#define TABLE_API __attribute__((visibility("default")))
#define TABLE_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define TABLE_API
#define TABLE_PRINTF(at, first)
#endif

/* What can go wrong. */
enum table_status {
    TABLE_OK = 0,
    TABLE_MISSING,
    TABLE_NO_MEMORY,
    TABLE_TOO_LARGE,
};

typedef enum { KEEP_FIRST, KEEP_LAST } table_policy;

/* One place in the table; without a key it is free. */
struct table_slot {
    const char *key;
    void *value;
    uint32_t hash;
    unsigned used : 1, moved : 1;
};

typedef uint32_t (*table_hash)(const char *key, size_t length);
typedef int (*table_visit)(const char *key, void *value, void *more);

typedef struct table {
    struct table_slot *slots;
    size_t room;
    size_t count;
    table_hash hash;
    union {
        void *owner;
        uintptr_t tag;
    };
    struct {
        size_t hits, misses;
        double load;
    } statistics;
    void (*release)(void *value);
} table_t, *table_ref;

union number {
    int64_t whole;
    double real;
    unsigned char bytes[8];
};

struct opaque;
typedef struct opaque opaque_t;

extern const char *const table_names[4];
extern int table_verbose;

TABLE_API table_t *table_new(table_hash hash);
TABLE_API void table_free(table_t *table);
TABLE_API enum table_status table_set(table_t *table, const char *key, void *value);
TABLE_API void *table_get(const table_t *table, const char *key);
enum table_status table_remove(table_t *table, const char *key);
int table_each(table_t *table, table_visit visit, void *more);
void table_log(FILE *to, const char *format, ...) TABLE_PRINTF(2, 3);
void (*table_handler(int kind))(const char *);

static inline size_t table_count(const table_t *table)
{
    return table ? table->count : 0;
}

#ifdef __cplusplus
}
#endif

#endif /* STOCK_TABLE_H */

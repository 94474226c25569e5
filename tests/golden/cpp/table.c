/*
 * The table itself: open addressing, linear probing, and a rebuild when
 * three quarters of the room are taken.
 */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_UP 3
#define LOAD_DOWN 4
#define FNV_START 2166136261u
#define FNV_STEP 16777619u
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SWAP(type, a, b)      \
    do {                      \
        type swapped_ = (a);  \
        (a) = (b);            \
        (b) = swapped_;       \
    } while (0)

struct cursor {
    table_t *table;
    size_t at;
};

struct report {
    char text[128];
    size_t length;
    struct cursor from;
    int (*write)(struct report *self, const char *text);
} last_report;

const char *const table_names[4] = {
    "ok",
    "missing",
    "no memory",
    "too large",
};

int table_verbose;
static size_t made, freed;
static int (*compare)(const char *, const char *) = strcmp;

static int grow(table_t *table);
static struct table_slot *place(table_t *table, const char *key, uint32_t hash);

/* FNV-1a: fast, and good enough for words. */
static uint32_t fnv(const char *key, size_t length)
{
    uint32_t hash = FNV_START;
    for (size_t at = 0; at < length; ++at) {
        hash ^= (unsigned char)key[at];
        hash *= FNV_STEP;
    }
    return hash;
}

static char *copied(const char *text)
{
    size_t size = strlen(text) + 1;
    char *made_here = malloc(size);
    if (made_here != NULL) {
        memcpy(made_here, text, size);
        ++made;
    }
    return made_here;
}

table_t *table_new(table_hash hash)
{
    table_t *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    table->slots = calloc(TABLE_SMALLEST, sizeof *table->slots);
    if (table->slots == NULL) {
        free(table);
        return NULL;
    }
    table->room = TABLE_SMALLEST;
    table->hash = hash != NULL ? hash : fnv;
    return table;
}

void table_free(table_t *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t at = 0; at < table->room; ++at) {
        struct table_slot *slot = &table->slots[at];
        if (slot->key != NULL) {
            if (table->release != NULL) {
                table->release(slot->value);
            }
            free((char *)slot->key);
            ++freed;
        }
    }
    free(table->slots);
    free(table);
}

static struct table_slot *place(table_t *table, const char *key, uint32_t hash)
{
    size_t mask = table->room - 1;
    size_t at = hash & mask;
    struct table_slot *tomb = NULL;
    for (;;) {
        struct table_slot *slot = &table->slots[at];
        if (slot->key == NULL) {
            if (!slot->moved) {
                return tomb != NULL ? tomb : slot;
            }
            if (tomb == NULL) {
                tomb = slot;
            }
        } else if (slot->hash == hash && compare(slot->key, key) == 0) {
            return slot;
        }
        at = (at + 1) & mask;
    }
}

static int grow(table_t *table)
{
    size_t room = table->room * 2;
    struct table_slot *old = table->slots;
    size_t old_room = table->room;
    if (room > TABLE_LARGEST) {
        return TABLE_TOO_LARGE;
    }
    table->slots = calloc(room, sizeof *table->slots);
    if (table->slots == NULL) {
        table->slots = old;
        return TABLE_NO_MEMORY;
    }
    table->room = room;
    for (size_t at = 0; at < old_room; ++at) {
        if (old[at].key != NULL) {
            *place(table, old[at].key, old[at].hash) = old[at];
        }
    }
    free(old);
    return TABLE_OK;
}

enum table_status table_set(table_t *table, const char *key, void *value)
{
    uint32_t hash = table->hash(key, strlen(key));
    struct table_slot *slot;

    if ((table->count + 1) * LOAD_DOWN > table->room * LOAD_UP) {
        int status = grow(table);
        if (status != TABLE_OK) {
            return status;
        }
    }
    slot = place(table, key, hash);
    if (slot->key == NULL) {
        char *kept = copied(key);
        if (kept == NULL) {
            return TABLE_NO_MEMORY;
        }
        slot->key = kept;
        slot->hash = hash;
        slot->used = 1;
        ++table->count;
    } else if (table->release != NULL) {
        table->release(slot->value);
    }
    slot->value = value;
    return TABLE_OK;
}

void *table_get(const table_t *table, const char *key)
{
    uint32_t hash = table->hash(key, strlen(key));
    struct table_slot *slot = place((table_t *)table, key, hash);
    return slot->key != NULL ? slot->value : NULL;
}

enum table_status table_remove(table_t *table, const char *key)
{
    uint32_t hash = table->hash(key, strlen(key));
    struct table_slot *slot = place(table, key, hash);
    if (slot->key == NULL) {
        return TABLE_MISSING;
    }
    if (table->release != NULL) {
        table->release(slot->value);
    }
    free((char *)slot->key);
    memset(slot, 0, sizeof *slot);
    slot->moved = 1;
    --table->count;
    return TABLE_OK;
}

int table_each(table_t *table, table_visit visit, void *more)
{
    TABLE_EACH(table, at) {
        int stop = visit(table->slots[at].key, table->slots[at].value, more);
        if (stop) {
            return stop;
        }
    }
    return 0;
}

void table_log(FILE *to, const char *format, ...)
{
    va_list rest;
    if (!table_verbose) {
        return;
    }
    va_start(rest, format);
    vfprintf(to, format, rest);
    va_end(rest);
}

static void complain(const char *text)
{
    fprintf(stderr, "table: { %s }\n", text);
}

static void ignore(const char *text)
{
    (void)text;
}

/* A function that returns a function. */
void (*table_handler(int kind))(const char *)
{
    return kind ? complain : ignore;
}

/* Old code that nobody dares to touch. */
int checksum(text, length, start)
    const char *text;
    int length;
    int start;
{
    int sum = start, at;
    for (at = 0; at < length; at++)
        sum = (sum << 1) ^ text[at];
    return sum;
}

#ifdef TABLE_TRACE
static int trace(const table_t *table, int level)
{
    fprintf(stderr, "%d: %zu of %zu\n", level, table->count, table->room);
    return level;
}
#else
static int trace(const table_t *table, int level)
{
    (void)table;
    return level;
}
#endif

#if TABLE_VERSION > 2
int table_check(table_t *table, int strict)
{
#else
int table_check(table_t *table)
{
    int strict = 0;
#endif
    size_t seen = 0;
    for (size_t at = 0; at < table->room; ++at) {
        seen += table->slots[at].key != NULL;
    }
    if (strict && seen != table->count) {
        return trace(table, 1);
    }
    return trace(table, 0);
}

static int sorted_by_key(const void *left, const void *right)
{
    const struct table_slot *a = left, *b = right;
    return strcmp(a->key, b->key);
}

/* All keys in order; the caller frees the array, not the keys. */
const char **table_keys(const table_t *table, size_t *count)
{
    struct table_slot *copy = malloc(table->room * sizeof *copy);
    const char **keys = malloc((table->count + 1) * sizeof *keys);
    size_t used = 0;
    if (copy == NULL || keys == NULL) {
        free(copy);
        free(keys);
        return NULL;
    }
    for (size_t at = 0; at < table->room; ++at) {
        if (table->slots[at].key != NULL) {
            copy[used++] = table->slots[at];
        }
    }
    qsort(copy, used, sizeof *copy, sorted_by_key);
    for (size_t at = 0; at < used; ++at) {
        keys[at] = copy[at].key;
    }
    keys[used] = NULL;
    *count = used;
    free(copy);
    return keys;
}

int main(int argc, char **argv)
{
    table_t *table = table_new(NULL);
    for (int at = 1; at < argc; ++at) {
#ifdef TABLE_TRACE
        if (trace(table, at)) {
#else
        if (at) {
#endif
            table_set(table, argv[at], argv[at]);
        }
    }
    printf("%zu words, checksum %d\n", table_count(table), checksum("a", 1, MIN(argc, 7)));
    table_free(table);
    return 0;
}

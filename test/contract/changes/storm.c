/* Threads that make and remove the same names all the time. Each errno that one of them may meet is known; any other is printed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 1500

static void see(const char *what, int failed) {
  if (failed < 0 && errno != ENOENT && errno != EEXIST && errno != ENOTEMPTY) printf("%s: errno %d\n", what, errno);
}

static void *storm(void *seed) {
  unsigned state = (unsigned)(size_t)seed;
  for (int i = 0; i < ROUNDS; i++) {
    int fd = -1;
    switch (rand_r(&state) % 8) {
    case 0: see("mkdir", mkdir("s", 0755)); break;
    case 1: see("mkdir below", mkdir("s/t", 0755)); break;
    case 2: see("rmdir below", rmdir("s/t")); break;
    case 3: see("rmdir", rmdir("s")); break;
    case 4: see("create", fd = open("s/f", O_CREAT | O_WRONLY, 0644)); break;
    case 5: see("create anew", fd = open("s/f", O_CREAT | O_EXCL | O_WRONLY, 0644)); break;
    case 6: see("write", fd = open("s/f", O_WRONLY)); break;
    case 7: see("unlink", rand_r(&state) % 2 ? unlink("s/f") : rename("s/f", "g")); break;
    }
    if (fd >= 0) close(fd);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, storm, (void *)(i + 1));
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  puts("over");
  return 0;
}

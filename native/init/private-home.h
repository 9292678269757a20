/* Reports files that a command left in its private home. They disappear with the sandbox, so a
 * person who misses ~/.gitconfig needs the reason. */
#ifndef PRIVATE_HOME_H
#define PRIVATE_HOME_H

/* Sets its path. Only files newer than private_home_start count. */
void private_home_take(const char *path);
int private_home_is_on(void);
void private_home_start(void);
/* Each file by its path below the home, with private_home_send, which cordon-init.c defines.
 * Bounded: the command created the tree. */
void private_home_report(void);
void private_home_send(const char *path);
#endif

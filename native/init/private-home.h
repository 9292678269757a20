/*
 * Files that a command left in its own home, told when everybody is dead: they go with the sandbox, and the person who looks
 * for ~/.gitconfig afterwards should know why it is not there.
 */
#ifndef PRIVATE_HOME_H
#define PRIVATE_HOME_H

/* Where it is. Files that are there when the command starts do not count: private_home_start says when that is. */
void private_home_take(const char *path);
int private_home_is_on(void);
void private_home_start(void);
/* Each file by its path below the home, by private_home_send, which cordon-init.c gives. Within bounds: the command made the tree. */
void private_home_tell(void);
void private_home_send(const char *path);
#endif

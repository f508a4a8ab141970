-- Accounts mark their notifications as read.
-- Works with: 0025
create index notifications_unread on notifications (user_id, created_at, id) where read_at is null;
create policy app_update on notifications for update to corkboard_app using (user_id = current_user_id());
grant update (read_at) on notifications to corkboard_app;

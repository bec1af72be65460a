-- Charges of images and of video seconds. A charge has one of three kinds: text has a provenance, images have a number of
-- images, and video has a duration. The token columns of the other kinds are zero.
ALTER TABLE charges ADD COLUMN images INTEGER;
ALTER TABLE charges ADD COLUMN duration_ms INTEGER;
